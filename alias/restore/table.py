# SPDX-License-Identifier: Apache-2.0
"""The table of what `numbaflow run` restores: where, what, since when it is gone, and by what.

`by` is "module" (the same name there), "module:name", or a module of this folder (".numbers").
Names may be written "old=new".  A row with the name "*" restores a whole module: by itself it is
that module; names of a module that is still there are looked up only when the module has not got
them.  CLASSES are methods that classes had; CALLS are functions that took more than they do now.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .old_six_moves import MODULES


class Row(NamedTuple):
    """Names of one module that are gone."""

    module: str
    names: str
    since: str
    by: str

    def targets(self) -> Iterator[tuple[str, str]]:
        """(name, "module:attribute" or "module") for every name."""
        for word in self.names.split():
            old, _, new = word.partition("=")
            whole = old == "*" or ":" in self.by
            yield old, self.by if whole else f"{self.by}:{new or old}"


NAMES = (
    Row("numpy", "int float complex object str unicode=str", "NumPy 1.24", "builtins"),
    Row("numpy", "bool", "NumPy 1.24", "builtins"),
    Row("numpy", "long=int", "NumPy 1.24", "builtins"),
    Row("numpy", "math", "NumPy 1.25", "math:"),
    Row("numpy", "Inf=inf Infinity=inf PINF=inf infty=inf NaN=nan NAN=nan", "NumPy 2.0", "numpy"),
    Row("numpy", "float_=float64 complex_=complex128 unicode_=str_", "NumPy 2.0", "numpy"),
    Row("numpy", "string_=bytes_ singlecomplex=complex64 cfloat=complex128", "NumPy 2.0", "numpy"),
    Row("numpy", "longfloat=longdouble clongfloat=clongdouble", "NumPy 2.0", "numpy"),
    Row("numpy", "longcomplex=clongdouble mat=asmatrix round_=round", "NumPy 2.0", "numpy"),
    Row("numpy", "alltrue=all sometrue=any product=prod cumproduct=cumprod", "NumPy 2.0", "numpy"),
    Row("numpy", "int0=intp uint0=uintp bool8=bool_ object0=object_", "NumPy 2.0", "numpy"),
    Row("numpy", "str0=str_ bytes0=bytes_ void0=void", "NumPy 2.0", "numpy"),
    Row("numpy", "row_stack=vstack trapz=trapezoid", "NumPy 2.4", "numpy"),
    Row("numpy", "rank=ndim", "NumPy 1.18", "numpy"),
    Row(
        "numpy",
        "NINF PZERO NZERO cast typeDict sctypes asfarray find_common_type issctype obj2sctype "
        "sctype2char issubclass_ maximum_sctype msort disp byte_bounds deprecate safe_eval who "
        "fastCopyAndTranspose recfromcsv recfromtxt nbytes",
        "NumPy 2.0",
        ".numpy_names",
    ),
    Row("numpy", "asscalar alen loads", "NumPy 1.23", ".numpy_names"),
    Row("numpy", "in1d", "NumPy 2.4", ".numpy_names"),
    Row(
        "numpy",
        "AxisError ComplexWarning ModuleDeprecationWarning RankWarning TooHardError "
        "VisibleDeprecationWarning",
        "NumPy 2.0",
        "numpy.exceptions",
    ),
    Row("numpy.linalg.linalg", "*", "NumPy 2.0", "numpy.linalg"),
    Row("numpy.lib.arraysetops", "*", "NumPy 2.0", "numpy"),
    Row("numpy.lib.function_base", "*", "NumPy 2.0", "numpy"),
    Row("numpy.lib.index_tricks", "*", "NumPy 2.0", "numpy"),
    Row("numpy.lib.shape_base", "*", "NumPy 2.0", "numpy"),
    Row("numpy.lib", "*", "NumPy 2.0", "numpy"),
    Row("numpy.fft.helper", "*", "NumPy 2.0", "numpy.fft"),
    Row("numpy.core.umath_tests", "inner1d", "NumPy 1.18", ".numpy_names"),
    Row("numpy.testing.utils", "*", "NumPy 1.26", "numpy.testing"),
    Row(
        "collections",
        "Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Hashable Iterable Iterator "
        "Generator Reversible Sized Container Callable Collection Set MutableSet Mapping "
        "MutableMapping MappingView KeysView ItemsView ValuesView Sequence MutableSequence "
        "ByteString",
        "Python 3.10",
        "collections.abc",
    ),
    Row("inspect", "getargspec ArgSpec", "Python 3.11", ".old_inspect"),
    Row("inspect", "formatargspec", "Python 3.11", ".old_inspect"),
    Row("imp", "*", "Python 3.12", ".old_imp"),
    Row("distutils", "__version__", "Python 3.12", ".old_distutils"),
    Row("distutils.version", "LooseVersion StrictVersion", "Python 3.12", ".old_distutils"),
    Row("distutils.util", "strtobool get_platform", "Python 3.12", ".old_distutils"),
    Row("distutils.spawn", "find_executable=which", "Python 3.12", "shutil"),
    Row("distutils.dir_util", "mkpath copy_tree remove_tree", "Python 3.12", ".old_distutils"),
    Row("distutils.file_util", "copy_file move_file", "Python 3.12", ".old_distutils"),
    Row("pkg_resources", "*", "setuptools 82", ".old_pkg_resources"),
    Row("termcolor", "*", "a dependency of TensorFlow's", ".old_termcolor"),
    Row("six", "*", "a dependency of TensorFlow's", ".old_six"),
    Row("six.moves", "*", "a dependency of TensorFlow's", ".old_six_moves"),
    *(
        Row(f"six.moves.{old}", "*", "a dependency of TensorFlow's", new)
        for old, new in (
            *MODULES.items(),
            ("urllib", "urllib"),
            *(
                (f"urllib.{part}", f"urllib.{part}")
                for part in "error parse request response robotparser".split()
            ),
        )
    ),
    Row("asyncio", "coroutine", "Python 3.11", "types"),
    Row("asyncio", "async=ensure_future", "Python 3.7", "asyncio"),
    Row("time", "clock=perf_counter", "Python 3.8", "time"),
    Row("os", "errno", "Python 3.7", "errno:"),
    Row("string", "letters=ascii_letters lowercase=ascii_lowercase", "Python 3.0", "string"),
    Row("string", "uppercase=ascii_uppercase", "Python 3.0", "string"),
    Row("string", "maketrans", "Python 3.0", ".old_library"),
    Row("fractions", "gcd", "Python 3.9", "math"),
    Row("cgi", "escape", "Python 3.8", ".old_library"),
    Row("base64", "encodestring=encodebytes decodestring=decodebytes", "Python 3.9", "base64"),
    Row("platform", "dist linux_distribution", "Python 3.8", ".old_library"),
    Row("locale", "format=format_string", "Python 3.12", "locale"),
    Row("configparser", "SafeConfigParser=ConfigParser", "Python 3.12", "configparser"),
    Row("xml.etree.cElementTree", "*", "Python 3.9", "xml.etree.ElementTree"),
    Row("dummy_threading", "*", "Python 3.9", "threading"),
    Row("json.decoder", "errmsg", "Python 3.5", ".old_library"),
    Row("PIL.Image", "ANTIALIAS=LANCZOS LINEAR=BILINEAR CUBIC=BICUBIC", "Pillow 10", "PIL.Image"),
    Row("scipy", "misc", "SciPy 1.14", "scipy.misc:"),
    Row("scipy", "rand randn", "SciPy 1.12", "numpy.random"),
    Row("scipy", "ifft", "SciPy 1.12", "numpy.fft"),
    Row("scipy", "*", "SciPy 1.12", "numpy"),
    Row("scipy.misc", "*", "SciPy 1.14", ".old_scipy_misc"),
    Row("scipy.misc.pilutil", "*", "SciPy 1.2", ".old_scipy_misc"),
    Row("scipy.ndimage", "imread", "SciPy 1.2", ".old_scipy_misc"),
    Row("scipy.ndimage.interpolation", "*", "SciPy 2.0", "scipy.ndimage"),
    Row("scipy.ndimage.filters", "*", "SciPy 2.0", "scipy.ndimage"),
    Row("scipy.ndimage.morphology", "*", "SciPy 2.0", "scipy.ndimage"),
    Row("scipy.ndimage.measurements", "*", "SciPy 2.0", "scipy.ndimage"),
    Row("scipy.signal", "*", "SciPy 1.13", "scipy.signal.windows"),
    Row("scipy.sparse.linalg.eigen", "*", "SciPy 2.0", "scipy.sparse.linalg"),
    Row("scipy.sparse.linalg.eigen.arpack", "*", "SciPy 1.8", "scipy.sparse.linalg"),
    Row("scipy.sparse.linalg.eigen.arpack.arpack", "*", "SciPy 1.8", "scipy.sparse.linalg"),
    Row("scipy.sparse.linalg.isolve", "*", "SciPy 1.8", "scipy.sparse.linalg"),
    Row("scipy.linalg", "kron tri tril triu", "SciPy 1.17", "numpy"),
    Row("scipy.linalg", "pinv2=pinv", "SciPy 1.9", "scipy.linalg"),
    Row("scipy.signal", "hanning=hann", "SciPy 1.3", "scipy.signal.windows"),
    Row("scipy.stats", "itemfreq median_absolute_deviation binom_test", "SciPy 1.12", ".old_scipy"),
    Row("scipy.spatial.distance", "matching=hamming", "SciPy 1.10", "scipy.spatial.distance"),
    Row("scipy.integrate", "cumtrapz=cumulative_trapezoid", "SciPy 1.14", "scipy.integrate"),
    Row("scipy.integrate", "trapz=trapezoid simps=simpson", "SciPy 1.14", "scipy.integrate"),
    Row(
        "skimage.measure",
        "compare_mse=mean_squared_error compare_nrmse=normalized_root_mse "
        "compare_psnr=peak_signal_noise_ratio",
        "scikit-image 0.18",
        "skimage.metrics",
    ),
    Row("skimage.measure", "compare_ssim", "scikit-image 0.18", ".old_images"),
    Row("sklearn.externals", "joblib", "scikit-learn 0.23", "joblib:"),
    Row("sklearn.externals.joblib", "*", "scikit-learn 0.23", "joblib"),
    Row("sklearn.externals", "six", "scikit-learn 0.23", ".old_six:"),
    Row("sklearn.externals.six", "*", "scikit-learn 0.23", ".old_six"),
    Row("sklearn.externals.six.moves", "*", "scikit-learn 0.23", ".old_six_moves"),
    Row("sklearn.cross_validation", "*", "scikit-learn 0.20", ".old_sklearn"),
    Row("sklearn.grid_search", "*", "scikit-learn 0.20", "sklearn.model_selection"),
    Row("sklearn.learning_curve", "*", "scikit-learn 0.20", "sklearn.model_selection"),
    Row(
        "sklearn.lda",
        "LDA=LinearDiscriminantAnalysis",
        "scikit-learn 0.19",
        "sklearn.discriminant_analysis",
    ),
    Row(
        "sklearn.qda",
        "QDA=QuadraticDiscriminantAnalysis",
        "scikit-learn 0.19",
        "sklearn.discriminant_analysis",
    ),
    Row("sklearn.preprocessing", "Imputer=SimpleImputer", "scikit-learn 0.22", "sklearn.impute"),
    Row("sklearn.datasets", "fetch_mldata load_boston", "scikit-learn 1.2", ".old_sklearn"),
    Row(
        "sklearn.metrics",
        "jaccard_similarity_score=accuracy_score calinski_harabaz_score=calinski_harabasz_score",
        "scikit-learn 0.23",
        "sklearn.metrics",
    ),
    Row("sklearn.decomposition", "RandomizedPCA", "scikit-learn 0.20", ".old_sklearn"),
    Row("sklearn.utils", "safe_indexing=_safe_indexing", "scikit-learn 0.24", "sklearn.utils"),
    Row("sklearn.neighbors", "DistanceMetric", "scikit-learn 1.3", "sklearn.metrics"),
    Row(
        "sklearn.utils.linear_assignment_",
        "linear_assignment",
        "scikit-learn 0.23",
        ".old_sklearn",
    ),
    Row("sklearn.utils.testing", "*", "scikit-learn 0.24", "sklearn.utils._testing"),
    *(
        # The files in which they were: they could be imported from until 0.24.
        Row(f"sklearn.{old}", "*", "scikit-learn 0.24", f"sklearn.{old.rpartition('.')[0]}")
        for old in (
            "cluster.k_means_ cluster.dbscan_ cluster.hierarchical cluster.mean_shift_ "
            "cluster.spectral covariance.empirical_covariance_ datasets.base "
            "datasets.samples_generator datasets.mldata decomposition.kernel_pca decomposition.nmf "
            "decomposition.pca decomposition.truncated_svd ensemble.bagging ensemble.forest "
            "ensemble.gradient_boosting ensemble.iforest ensemble.voting_classifier "
            "ensemble.weight_boosting feature_extraction.dict_vectorizer "
            "feature_extraction.hashing feature_selection.from_model "
            "feature_selection.univariate_selection "
            "linear_model.base linear_model.coordinate_descent linear_model.logistic "
            "linear_model.perceptron linear_model.ridge linear_model.stochastic_gradient "
            "manifold.isomap manifold.locally_linear manifold.mds manifold.t_sne "
            "metrics.classification metrics.ranking metrics.regression metrics.scorer "
            "mixture.gaussian_mixture neighbors.base neighbors.classification "
            "neighbors.kde neighbors.unsupervised neural_network.multilayer_perceptron "
            "neural_network.rbm preprocessing.data preprocessing.imputation preprocessing.label "
            "svm.classes tree.tree"
        ).split()
    ),
    Row("matplotlib.pyplot", "hold ishold", "matplotlib 3.0", ".old_matplotlib"),
    Row("matplotlib.cm", "get_cmap register_cmap", "matplotlib 3.9", ".old_matplotlib"),
    Row(
        "matplotlib.cm",
        "spectral=nipy_spectral Vega10=tab10 Vega20=tab20",
        "matplotlib 3.0",
        "matplotlib.cm",
    ),
    Row("matplotlib.pyplot", "register_cmap", "matplotlib 3.9", ".old_matplotlib"),
    Row("matplotlib.mlab", "normpdf bivariate_normal", "matplotlib 3.1", ".old_matplotlib"),
    Row("matplotlib.pyplot", "plot_date", "matplotlib 3.11", ".old_matplotlib"),
    Row("matplotlib.cm", "cmap_d", "matplotlib 3.6", ".old_matplotlib"),
    Row("matplotlib.cbook", "iterable", "matplotlib 3.5", "numpy"),
    Row("mpl_toolkits.axes_grid", "*", "matplotlib 3.6", "mpl_toolkits.axes_grid1"),
    Row("pandas", "np", "pandas 2.0", "numpy:"),
    Row("pandas", "datetime", "pandas 2.0", "datetime"),
    Row("pandas", "Int64Index=Index Float64Index=Index UInt64Index=Index", "pandas 2.0", "pandas"),
    Row("pandas", "TimeGrouper=Grouper", "pandas 1.0", "pandas"),
    Row("pandas", "value_counts", "pandas 3.0", ".old_pandas"),
    Row("pandas", "scatter_matrix", "pandas 0.23", "pandas.plotting"),
    Row("pandas", "rolling_mean rolling_std rolling_sum", "pandas 0.23", ".old_pandas"),
    Row("pandas.io.json", "json_normalize", "pandas 2.0", "pandas"),
    Row("pandas.util.testing", "*", "pandas 2.0", "pandas.testing"),
    Row("pandas.tools.plotting", "*", "pandas 0.24", "pandas.plotting"),
    Row(
        "networkx",
        "adj_matrix connected_component_subgraphs from_numpy_matrix info read_gpickle "
        "strongly_connected_component_subgraphs to_numpy_matrix to_scipy_sparse_matrix "
        "weakly_connected_component_subgraphs write_gpickle",
        "networkx 2.4, 3.0",
        ".old_networkx",
    ),
    Row("networkx", "from_scipy_sparse_matrix=from_scipy_sparse_array", "networkx 3.0", "networkx"),
    Row("networkx", "random_tree=random_labeled_tree", "networkx 3.4", "networkx"),
    # TensorFlow's own, of versions before 1.15; its modules are those of this package.
    Row(
        "tensorflow.contrib.estimator",
        "InMemoryEvaluatorHook make_early_stopping_hook make_stop_at_checkpoint_step_hook "
        "stop_if_higher_hook stop_if_lower_hook stop_if_no_decrease_hook stop_if_no_increase_hook",
        "TensorFlow 1.14",
        "tensorflow.estimator.experimental",
    ),
    Row(
        "tensorflow.contrib.estimator",
        "BaselineEstimator DNNEstimator DNNLinearCombinedEstimator LinearEstimator",
        "TensorFlow 1.14",
        "tensorflow.estimator",
    ),
)

# Module: {"Class.method": (since, what does it: a method's name, or "module:function")}.
CLASSES: dict[str, dict[str, tuple[str, str]]] = {
    "absl.flags": {"FlagValues._parse_flags": ("TensorFlow 1.5", ".old_flags:parse_flags")},
    "threading": {
        "Thread.isAlive": ("Python 3.9", "is_alive"),
    },
    "html.parser": {"HTMLParser.unescape": ("Python 3.9", ".old_library:unescape")},
    "configparser": {"RawConfigParser.readfp": ("Python 3.12", "read_file")},
    "unittest": {
        "TestCase.assertEquals": ("Python 3.12", "assertEqual"),
        "TestCase.assertNotEquals": ("Python 3.12", "assertNotEqual"),
        "TestCase.assertAlmostEquals": ("Python 3.12", "assertAlmostEqual"),
        "TestCase.assertItemsEqual": ("Python 3.0", "assertCountEqual"),
        "TestCase.assertRaisesRegexp": ("Python 3.12", "assertRaisesRegex"),
        "TestCase.assertRegexpMatches": ("Python 3.12", "assertRegex"),
        "TestCase.assert_": ("Python 3.12", "assertTrue"),
    },
    "h5py": {
        "Dataset.value": ("h5py 3.0", ".old_files:dataset_value"),
        "File.fid": ("h5py 3.0", ".old_files:file_id"),
    },
    "pandas": {
        "DataFrame.append": ("pandas 2.0", ".old_pandas:append"),
        "DataFrame.as_matrix": ("pandas 1.0", ".old_pandas:as_matrix"),
        "DataFrame.iteritems": ("pandas 2.0", "items"),
        "DataFrame.applymap": ("pandas 3.0", "map"),
        "DataFrame.get_value": ("pandas 1.0", ".old_pandas:get_value"),
        "DataFrame.ix": ("pandas 1.0", ".old_pandas:ix"),
        "DataFrame.mad": ("pandas 2.0", ".old_pandas:mad"),
        "DataFrame.sort": ("pandas 0.20", ".old_pandas:sort"),
        "Series.get_value": ("pandas 1.0", ".old_pandas:get_value"),
        "Series.ix": ("pandas 1.0", ".old_pandas:ix"),
        "Series.mad": ("pandas 2.0", ".old_pandas:mad"),
        "Series.nonzero": ("pandas 1.0", ".old_pandas:nonzero"),
        "Series.order": ("pandas 0.20", "sort_values"),
        "Series.ravel": ("pandas 3.0", "to_numpy"),
        "Series.append": ("pandas 2.0", ".old_pandas:append"),
        "Series.as_matrix": ("pandas 1.0", ".old_pandas:as_matrix"),
        "Series.iteritems": ("pandas 2.0", "items"),
    },
    "pandas.core.indexes.accessors": {
        "DatetimeProperties.week": ("pandas 2.0", ".old_pandas:week"),
        "DatetimeProperties.weekofyear": ("pandas 2.0", ".old_pandas:week"),
    },
    "sklearn.feature_extraction.text": {
        "CountVectorizer.get_feature_names": ("scikit-learn 1.2", ".old_sklearn:feature_names"),
    },
    "sklearn.feature_extraction": {
        "DictVectorizer.get_feature_names": ("scikit-learn 1.2", ".old_sklearn:feature_names"),
    },
    "networkx": {
        "Graph.add_path": ("networkx 2.4", ".old_networkx:add_path"),
        "Graph.edges_iter": ("networkx 2.0", ".old_networkx:edges_iter"),
        "Graph.node": ("networkx 2.4", ".old_networkx:node"),
        "Graph.nodes_iter": ("networkx 2.0", ".old_networkx:nodes_iter"),
        "Graph.nodes_with_selfloops": ("networkx 2.4", ".old_networkx:nodes_with_selfloops"),
        "Graph.selfloop_edges": ("networkx 2.4", ".old_networkx:selfloop_edges"),
    },
    "PIL.ImageFont": {
        "FreeTypeFont.getsize": ("Pillow 10", ".old_images:font_size"),
        "ImageFont.getsize": ("Pillow 10", ".old_images:font_size"),
    },
    "PIL.ImageDraw": {"ImageDraw.textsize": ("Pillow 10", ".old_images:text_size")},
    "PIL.Image": {"Image.tostring": ("Pillow 3.0", "tobytes")},
    "matplotlib.axes": {
        "Axes.hold": ("matplotlib 3.0", ".old_matplotlib:hold_axes"),
        "Axes.set_axis_bgcolor": ("matplotlib 2.2", "set_facecolor"),
        "Axes.get_axis_bgcolor": ("matplotlib 2.2", "get_facecolor"),
    },
    "matplotlib.backends.backend_agg": {
        "FigureCanvasAgg.tostring_rgb": ("matplotlib 3.10", ".old_matplotlib:tostring_rgb"),
    },
    "mpl_toolkits.mplot3d": {
        "Axes3D.w_xaxis": ("matplotlib 3.8", ".old_matplotlib:w_xaxis"),
        "Axes3D.w_yaxis": ("matplotlib 3.8", ".old_matplotlib:w_yaxis"),
        "Axes3D.w_zaxis": ("matplotlib 3.8", ".old_matplotlib:w_zaxis"),
    },
    "matplotlib.colorbar": {
        "Colorbar.draw_all": ("matplotlib 3.8", "_draw_all"),
        "Colorbar.set_clim": ("matplotlib 3.3", ".old_matplotlib:set_clim"),
    },
    "matplotlib.backend_bases": {
        "FigureCanvasBase.set_window_title": ("matplotlib 3.6", ".old_matplotlib:window_title"),
    },
}

# Module -> (what it does again, since when it does not, what sees to it once it is imported).
MANNERS = {
    "numpy": ("`[np.float32(0.5)]` prints as `[0.5]`", "NumPy 2.0", ".printing:plain_numbers"),
    "pandas": (
        "columns of texts are of objects; `values` can be written",
        "pandas 3.0",
        ".old_pandas:as_before_3",
    ),
    "multiprocessing.context": (
        "processes are forked on Linux",
        "Python 3.14",
        ".old_processes:forked",
    ),
    "matplotlib": (
        "lines of LaTeX in a list, and settings that are gone, in `rcParams`",
        "matplotlib 3.3",
        ".old_matplotlib:lenient_settings",
    ),
}

# Classes' members that are read, not called.
PROPERTIES = frozenset("fid ix node value w_xaxis w_yaxis w_zaxis week weekofyear".split())

# Function -> (what is taken again, since when it is not, what does it in calls.py).
CALLS = {
    "numpy.array": ("ragged lists; copy=False", "NumPy 1.24, 2.0", "array"),
    "numpy.asarray": ("ragged lists", "NumPy 1.24", "asarray"),
    "numpy.load": ("pickled objects; those of Python 2", "NumPy 1.16.3", "load"),
    "numpy.save": ("ragged lists", "NumPy 1.24", "save"),
    "numpy.savez": ("ragged lists", "NumPy 1.24", "savez"),
    "numpy.savez_compressed": ("ragged lists", "NumPy 1.24", "savez_compressed"),
    "numpy.fromstring": ("bytes", "NumPy 2.3", "fromstring"),
    "numpy.linspace": ("a number of points that is a float", "NumPy 1.18", "linspace"),
    "numpy.sum": ("a generator", "NumPy 2.4", "total"),
    "numpy.vstack": ("a generator", "NumPy 1.24", "vstack"),
    "numpy.hstack": ("a generator", "NumPy 1.24", "hstack"),
    "numpy.stack": ("a generator", "NumPy 1.24", "stack"),
    "numpy.dstack": ("a generator", "NumPy 1.24", "dstack"),
    "numpy.column_stack": ("a generator", "NumPy 1.24", "column_stack"),
    "numpy.set_printoptions": ("a threshold that is no number", "NumPy 1.17", "set_printoptions"),
    "numpy.random.shuffle": ("a range", "Python 3.0", "shuffle_array"),
    "pickle.load": ("pickles of Python 2 with bytes", "Python 3.0", "unpickle"),
    "pickle.loads": ("pickles of Python 2 with bytes", "Python 3.0", "unpickle_bytes"),
    "json.load": ("encoding=", "Python 3.9", "json_load"),
    "json.loads": ("encoding=", "Python 3.9", "json_loads"),
    "json.dump": ("float32s that were float64s", "NumPy 2.0", "json_dump"),
    "json.dumps": ("float32s that were float64s", "NumPy 2.0", "json_dumps"),
    "random.sample": ("a set", "Python 3.11", "sample"),
    "random.shuffle": ("random=; a range", "Python 3.11", "shuffle"),
    "random.randint": ("whole floats", "Python 3.12", "randint"),
    "random.randrange": ("whole floats", "Python 3.12", "randrange"),
    "yaml.load": ("no Loader", "PyYAML 6.0", "yaml_load"),
    **{
        f"ruamel.yaml.{name}": ("functions of the package", "ruamel.yaml 0.18", f"ruamel_{name}")
        for name in "dump dump_all load load_all round_trip_dump round_trip_load safe_dump "
        "safe_load safe_load_all".split()
    },
    "networkx.adjacency_matrix": ("a sparse matrix", "networkx 3.0", "adjacency_matrix"),
    "h5py.File": ("no mode: reads and writes", "h5py 3.0", "h5py_file"),
    "matplotlib.use": ("warn=", "matplotlib 3.3", "matplotlib_use"),
    "matplotlib.pyplot.gca": ("projection=", "matplotlib 3.6", "current_axes"),
    "matplotlib.pyplot.style.use": ("seaborn's styles", "matplotlib 3.8", "matplotlib_style"),
    "matplotlib.style.use": ("seaborn's styles", "matplotlib 3.8", "matplotlib_style"),
    "int": ("an array of one element", "NumPy 2.4", "to_int"),
    "float": ("an array of one element", "NumPy 2.4", "to_float"),
    "numpy.testing.assert_approx_equal": ("arrays of one element", "NumPy 2.4", "approx_equal"),
}
# Function -> (keyword that it had, the one that it has, since when it has the former no longer).
KEYWORDS = {
    "numpy.reshape": ("newshape", "shape", "NumPy 2.4"),
    "numpy.percentile": ("interpolation", "method", "NumPy 2.4"),
    "numpy.nanpercentile": ("interpolation", "method", "NumPy 2.4"),
    "numpy.quantile": ("interpolation", "method", "NumPy 2.4"),
    "numpy.nanquantile": ("interpolation", "method", "NumPy 2.4"),
    "numpy.histogram": ("normed", "density", "NumPy 1.24"),
    "numpy.histogram2d": ("normed", "density", "NumPy 1.24"),
    "numpy.histogramdd": ("normed", "density", "NumPy 1.24"),
    "numpy.unravel_index": ("dims", "shape", "NumPy 1.21"),
    "matplotlib.pyplot.hist": ("normed", "density", "matplotlib 3.1"),
    "matplotlib.pyplot.grid": ("b", "visible", "matplotlib 3.8"),
    "matplotlib.pyplot.boxplot": ("labels", "tick_labels", "matplotlib 3.11"),
    "matplotlib.pyplot.axes": ("axisbg", "facecolor", "matplotlib 2.2"),
    "matplotlib.pyplot.subplot": ("axisbg", "facecolor", "matplotlib 2.2"),
    "scipy.linalg.eigh": ("eigvals", "subset_by_index", "SciPy 1.14"),
    **{
        f"scipy.sparse.linalg.{name}": ("tol", "rtol", "SciPy 1.14")
        for name in "bicg bicgstab cg cgs gcrotmk gmres lgmres minres qmr".split()
    },
}
# What calls of pandas and of scikit-learn take again (tables.py, estimators.py).
TABLES = (
    "arguments by position and under old names; columns changed in place; numbers' columns alone; "
    "`loc` of labels that are missing",
    "pandas 1.0, 1.3, 2.0, 3.0",
)
ESTIMATORS = ("arguments by position and under old names; old words for losses", "scikit-learn 1.0")
TABLE_METHODS = frozenset(
    "all any astype corr cov drop drop_duplicates dropna fillna mean median quantile size skew "
    "sort_values std to_csv var".split()
)
TEXT_METHODS = frozenset(("replace", "split", "rsplit", "contains"))

# Functions of `math` take arrays of one element again, as `"%f" % array` does.
SCALARS = ("arrays of one element", "NumPy 2.4")

# What functions of NumPy give for numbers leaves arrays of float32 what they are.
LENIENT = ("numpy: float64 numbers with arrays of float32", "NumPy 2.0")
LENIENT_FUNCTIONS = frozenset(
    f"numpy.{name}"
    for name in "abs absolute add amax amin arccos arcsin arctan arctan2 cbrt ceil cos cosh "
    "deg2rad divide exp expm1 fabs float64 floor linalg.norm log log10 log1p log2 max maximum mean "
    "median min minimum multiply negative power prod product rad2deg reciprocal rint round sign "
    "sin sinh sqrt square std subtract tan tanh true_divide var".split()
)

# Methods of types that cannot be given any -> (type, since, what does it in calls.py).
METHODS = {
    "tostring": ("numpy.ndarray, array.array", "NumPy 2.3, Python 3.9", "tobytes"),
    "fromstring": ("array.array", "Python 3.9", "from_bytes"),
    "itemset": ("numpy.ndarray", "NumPy 2.0", "itemset"),
    "ptp": ("numpy.ndarray", "NumPy 2.0", "peak_to_peak"),
    "newbyteorder": ("numpy.ndarray", "NumPy 2.0", "new_byte_order"),
    "gca": ("matplotlib.figure.Figure, with projection=", "matplotlib 3.6", "axes_of_figure"),
    "add_subplot": ('matplotlib.figure.Figure, as "111"', "matplotlib 3.5", "add_subplot"),
    "getchildren": ("xml.etree.ElementTree.Element", "Python 3.9", "children"),
    "getiterator": ("xml.etree.ElementTree.Element", "Python 3.9", "iterator"),
    "decode": ("str, which h5py 2 gave as bytes", "h5py 3.0", "decoded"),
}

# Modules and names that only Python 2 has: a program that fails for want of one is of its time.
PYTHON_2_MODULES = frozenset(
    "cPickle cStringIO StringIO Queue ConfigParser HTMLParser httplib urllib2 urlparse Tkinter "
    "commands __builtin__ copy_reg SocketServer tkMessageBox cookielib".split()
)
PYTHON_2_NAMES = frozenset(
    "xrange raw_input unicode basestring long unichr reduce file execfile cmp buffer".split()
)

# Methods of what Python has itself.
PYTHON_2_METHODS = frozenset("iteritems iterkeys itervalues viewitems has_key next".split())

# What `--api` takes: versions whose names have the same table, alias/restore/before_1.py.
OLD_VERSIONS = ("0.12", "0.11", "0.10", "0.9", "0.8")
