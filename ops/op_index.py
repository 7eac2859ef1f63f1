# SPDX-License-Identifier: Apache-2.0
"""Where names and ops are, for who imports them when they are wanted; docs/stubs.py writes it."""

# Modules and the op types that each defines.
OPS = """
ops.array.assign: ResourceStridedSliceAssign StridedSliceAssign
ops.array.blocks: BatchToSpace BatchToSpaceND DepthToSpace SpaceToBatch SpaceToBatchND SpaceToDepth
ops.array.broadcast: BroadcastArgs BroadcastGradientArgs BroadcastTo
ops.array.constant: Const Fill OnesLike Placeholder PlaceholderV2 PlaceholderWithDefault ZerosLike
ops.array.gather: Gather GatherNd GatherV2
ops.array.identity: Bitcast CheckNumerics DebugGradientIdentity GuaranteeConst Identity IdentityN
  PreventGradient RefIdentity Snapshot StopGradient
ops.array.indexing: StridedSlice StridedSliceGrad
ops.array.join: Concat ConcatOffset ConcatV2 Split SplitV
ops.array.layout: ConjugateTranspose InvertPermutation Reverse ReverseSequence ReverseV2 Roll
  Transpose
ops.array.matrix_diag: Diag DiagPart MatrixBandPart MatrixDiag MatrixDiagPart MatrixSetDiag
ops.array.matrix_diag_v2: MatrixDiagPartV2 MatrixDiagV2 MatrixSetDiagV2
ops.array.pad: MirrorPad MirrorPadGrad Pad PadV2 Tile
ops.array.patches: ExtractImagePatches
ops.array.scatter: OneHot ScatterNd ScatterNdNonAliasingAdd TensorScatterAdd TensorScatterSub
  TensorScatterUpdate Where
ops.array.sets: DenseToDenseSetOperation DenseToSparseSetOperation SetSize
  SparseToSparseSetOperation
ops.array.shape: EnsureShape ExpandDims Rank Reshape Shape ShapeN Size Squeeze
ops.array.slice: Slice
ops.array.stack: Pack ParallelConcat Unpack
ops.array.unique: DynamicPartition DynamicStitch ListDiff LowerBound ParallelDynamicStitch Unique
  UniqueV2 UniqueWithCounts UniqueWithCountsV2 UnravelIndex UpperBound
ops.audio.audio_ops: AudioSpectrogram DecodeWav EncodeWav Mfcc
ops.checks.asserts: Assert
ops.checks.logging: Print PrintV2 StringFormat Timestamp
ops.control: ControlTrigger NoOp
ops.data.nodes.files: FixedLengthRecordDataset FixedLengthRecordDatasetV2 TFRecordDataset
  TextLineDataset
ops.data.nodes.functions: DatasetToSingleElement ExperimentalDatasetToSingleElement FilterDataset
  FlatMapDataset InterleaveDataset MapDataset ParallelInterleaveDatasetV2 ParallelMapDataset
  ReduceDataset
ops.data.nodes.iterators: AnonymousIterator AnonymousIteratorV2 AnonymousMemoryCache
  AnonymousRandomSeedGenerator DatasetCardinality DeleteIterator DeleteMemoryCache
  DeleteRandomSeedGenerator DeserializeIterator ExperimentalDatasetCardinality Iterator
  IteratorFromStringHandle IteratorFromStringHandleV2 IteratorGetNext IteratorGetNextAsOptional
  IteratorGetNextSync IteratorToStringHandle IteratorV2 MakeIterator OneShotIterator
  OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone SerializeIterator
ops.data.nodes.sources: GeneratorDataset RangeDataset SparseTensorSliceDataset TensorDataset
  TensorSliceDataset
ops.data.nodes.transformations: BatchDataset BatchDatasetV2 CacheDataset CacheDatasetV2
  ConcatenateDataset ExperimentalUnbatchDataset MaxIntraOpParallelismDataset ModelDataset
  OptimizeDataset PaddedBatchDataset PaddedBatchDatasetV2 PrefetchDataset PrivateThreadPoolDataset
  RepeatDataset ShardDataset ShuffleAndRepeatDataset ShuffleDataset ShuffleDatasetV2 SkipDataset
  TakeDataset UnbatchDataset WindowDataset ZipDataset
ops.flow.function_calls: Case If PartitionedCall StatefulPartitionedCall StatelessCase StatelessIf
  StatelessWhile SymbolicGradient While
ops.flow.nodes: Enter Exit LoopCond Merge NextIteration RefEnter RefExit RefMerge RefNextIteration
  RefSelect RefSwitch Switch
ops.flow.python_function: EagerPyFunc
ops.flow.script: PyFunc PyFuncStateless
ops.flow.stack: Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush StackPushV2 StackV2
ops.flow.tensor_array_nodes: TensorArrayCloseV3 TensorArrayConcatV3 TensorArrayGatherV3
  TensorArrayGradV3 TensorArrayGradWithShape TensorArrayReadV3 TensorArrayScatterV3
  TensorArraySizeV3 TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3
ops.flow.tensor_list_changing: TensorListConcatLists TensorListPopBack TensorListPushBack
  TensorListPushBackBatch TensorListResize TensorListScatterIntoExistingList TensorListSetItem
ops.flow.tensor_list_making: EmptyTensorList TensorListFromTensor TensorListReserve
  TensorListScatter TensorListScatterV2 TensorListSplit
ops.flow.tensor_list_reading: TensorListConcat TensorListConcatV2 TensorListElementShape
  TensorListGather TensorListGetItem TensorListLength TensorListStack
ops.image.boxes: CropAndResize CropAndResizeGradBoxes CropAndResizeGradImage
ops.image.codec_ops: DecodeAndCropJpeg DecodeBmp DecodeGif DecodeJpeg DecodePng EncodeJpeg
  EncodeJpegVariableQuality EncodePng ExtractJpegShape
ops.image.color: AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV
ops.image.distort: SampleDistortedBoundingBox SampleDistortedBoundingBoxV2
ops.image.draw: DrawBoundingBoxes DrawBoundingBoxesV2
ops.image.glimpse: ExtractGlimpse
ops.image.proposals: GenerateBoundingBoxProposals
ops.image.resize: ResizeBilinear ResizeBilinearGrad ResizeNearestNeighbor ResizeNearestNeighborGrad
ops.image.resize_nodes: ResizeArea ResizeBicubic ResizeBicubicGrad ScaleAndTranslate
  ScaleAndTranslateGrad
ops.image.suppress_nodes: CombinedNonMaxSuppression NonMaxSuppression NonMaxSuppressionV2
  NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps
ops.linalg.decompose: Qr SelfAdjointEigV2 Svd
ops.linalg.einsum: Einsum
ops.linalg.functions: Lu MatrixExponential MatrixLogarithm MatrixSquareRoot
ops.linalg.products: BatchMatMul BatchMatMulV2 MatMul SparseMatMul
ops.linalg.solve: Cholesky LogMatrixDeterminant MatrixDeterminant MatrixInverse MatrixSolve
  MatrixSolveLs MatrixTriangularSolve
ops.lookup.nodes: HashTable HashTableV2 InitializeTable InitializeTableFromTextFile
  InitializeTableFromTextFileV2 InitializeTableV2 LookupTableExport LookupTableExportV2
  LookupTableFind LookupTableFindV2 LookupTableImport LookupTableImportV2 LookupTableInsert
  LookupTableInsertV2 LookupTableRemoveV2 LookupTableSize LookupTableSizeV2 MutableDenseHashTable
  MutableDenseHashTableV2 MutableHashTable MutableHashTableOfTensors MutableHashTableOfTensorsV2
  MutableHashTableV2
ops.math.arithmetic: Add AddV2 Div DivNoNan FloorDiv FloorMod Maximum Minimum Mod Mul MulNoNan Pow
  RealDiv SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlogy
ops.math.bitwise: BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift PopulationCount RightShift
ops.math.cast: Cast
ops.math.clip: ClipByValue
ops.math.compare: ApproximateEqual Equal Greater GreaterEqual Less LessEqual LogicalAnd LogicalNot
  LogicalOr NotEqual Select SelectV2
ops.math.complex: Angle Complex ComplexAbs Conj Imag Real
ops.math.fourier: FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT RFFT
ops.math.histogram: HistogramFixedWidth
ops.math.range: Bucketize LinSpace Range
ops.math.reduce: All Any ArgMax ArgMin EuclideanNorm Max Mean Min Prod Sum
ops.math.reduce_scan: Cumprod Cumsum CumulativeLogsumexp
ops.math.reduce_segment: SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum UnsortedSegmentMax
  UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum
ops.math.reduce_sparse_segment: SparseSegmentMean SparseSegmentMeanGrad
  SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNGrad
  SparseSegmentSqrtNWithNumSegments SparseSegmentSum SparseSegmentSumWithNumSegments
ops.math.special: BesselI0e BesselI1e Betainc Digamma Erf Erfc Igamma IgammaGradA Igammac Lgamma
  NextAfter Polygamma Zeta
ops.math.sums: AccumulateNV2 AddN Bincount Cross
ops.math.trigonometry: Acos Acosh Asin Asinh Atan Atan2 Atanh Cos Cosh Sin Sinh Tan Tanh TanhGrad
ops.math.unary: Abs Ceil Exp Expm1 Floor Inv InvGrad IsFinite IsInf IsNan Log Log1p Neg Reciprocal
  ReciprocalGrad Rint Round Rsqrt RsqrtGrad Sigmoid SigmoidGrad Sign Sqrt SqrtGrad Square
ops.nn.activation: Elu EluGrad LeakyRelu LeakyReluGrad Relu Relu6 Relu6Grad ReluGrad Selu SeluGrad
  Softplus SoftplusGrad Softsign SoftsignGrad
ops.nn.bias: BiasAdd BiasAddGrad BiasAddV1
ops.nn.candidate_sampling: AllCandidateSampler ComputeAccidentalHits FixedUnigramCandidateSampler
  LearnedUnigramCandidateSampler LogUniformCandidateSampler ThreadUnsafeUnigramCandidateSampler
  UniformCandidateSampler
ops.nn.conv: Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2
  Conv3DBackpropInputV2
ops.nn.depthwise: DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter
  DepthwiseConv2dNativeBackpropInput
ops.nn.dilation: Dilation2D Dilation2DBackpropFilter Dilation2DBackpropInput
ops.nn.format: DataFormatDimMap DataFormatVecPermute
ops.nn.fractional_pool: FractionalAvgPool FractionalAvgPoolGrad FractionalMaxPool
  FractionalMaxPoolGrad
ops.nn.fused_conv: FusedPadConv2D FusedResizeAndPadConv2D
ops.nn.fused_norm: FusedBatchNorm FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3
  FusedBatchNormV2 FusedBatchNormV3
ops.nn.global_norm: BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad
ops.nn.local_response: LRN LRNGrad
ops.nn.loss: L2Loss
ops.nn.pool: AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad MaxPool MaxPool3D MaxPool3DGrad
  MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad MaxPoolGradGradV2 MaxPoolGradV2 MaxPoolV2
ops.nn.pool_argmax: MaxPoolGradGradWithArgmax MaxPoolGradWithArgmax MaxPoolWithArgmax
ops.nn.softmax: LogSoftmax Softmax SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits
ops.nn.top_k: InTopK InTopKV2 NthElement TopK TopKV2
ops.parsing.csv: DecodeCSV
ops.parsing.nodes: ParseExample ParseSequenceExample ParseSingleExample ParseSingleSequenceExample
ops.parsing.proto_ops: DecodeProtoV2 EncodeProto
ops.queues.accumulators: AccumulatorApplyGradient AccumulatorNumAccumulated AccumulatorSetGlobalStep
  AccumulatorTakeGradient ConditionalAccumulator ResourceAccumulatorApplyGradient
  ResourceAccumulatorNumAccumulated ResourceAccumulatorSetGlobalStep ResourceAccumulatorTakeGradient
  ResourceConditionalAccumulator SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient
  SparseConditionalAccumulator
ops.queues.barrier: Barrier BarrierClose BarrierIncompleteSize BarrierInsertMany BarrierReadySize
  BarrierTakeMany
ops.queues.nodes: FIFOQueue FIFOQueueV2 FakeQueue PaddingFIFOQueue PaddingFIFOQueueV2 PriorityQueue
  PriorityQueueV2 QueueClose QueueCloseV2 QueueDequeue QueueDequeueMany QueueDequeueManyV2
  QueueDequeueUpTo QueueDequeueUpToV2 QueueDequeueV2 QueueEnqueue QueueEnqueueMany
  QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosed QueueIsClosedV2 QueueSize QueueSizeV2
  RandomShuffleQueue RandomShuffleQueueV2
ops.queues.readers: FixedLengthRecordReader FixedLengthRecordReaderV2 IdentityReader
  IdentityReaderV2 LMDBReader ReaderNumRecordsProduced ReaderNumRecordsProducedV2
  ReaderNumWorkUnitsCompleted ReaderNumWorkUnitsCompletedV2 ReaderRead ReaderReadUpTo
  ReaderReadUpToV2 ReaderReadV2 ReaderReset ReaderResetV2 ReaderRestoreState ReaderRestoreStateV2
  ReaderSerializeState ReaderSerializeStateV2 TFRecordReader TFRecordReaderV2 TextLineReader
  TextLineReaderV2 WholeFileReader WholeFileReaderV2
ops.queues.record_input: RecordInput
ops.queues.staging: MapClear MapIncompleteSize MapPeek MapSize MapStage MapUnstage MapUnstageNoKey
  OrderedMapClear OrderedMapIncompleteSize OrderedMapPeek OrderedMapSize OrderedMapStage
  OrderedMapUnstage OrderedMapUnstageNoKey Stage StageClear StagePeek StageSize Unstage
ops.random.bounded: ParameterizedTruncatedNormal
ops.random.distributions_stateless: RandomGamma RandomGammaGrad RandomPoisson RandomPoissonV2
  StatelessMultinomial StatelessRandomNormal StatelessRandomUniform StatelessRandomUniformInt
  StatelessTruncatedNormal
ops.random.random_ops: Multinomial RandomShuffle RandomStandardNormal RandomUniform RandomUniformInt
  TruncatedNormal
ops.sparse.arithmetic: SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul
  SparseTensorDenseAdd
ops.sparse.dense: SparseTensorDenseMatMul SparseToDense
ops.sparse.layout: SparseConcat SparseReorder SparseReshape SparseSlice SparseSliceGrad SparseSplit
ops.sparse.math: SparseAdd SparseAddGrad SparseReduceMax SparseReduceMaxSparse SparseReduceSum
  SparseReduceSumSparse SparseSoftmax SparseSparseMaximum SparseSparseMinimum
ops.sparse.rows: SparseFillEmptyRows SparseFillEmptyRowsGrad
ops.sparse.serialize: DeserializeManySparse DeserializeSparse SerializeManySparse SerializeSparse
ops.sparse.sparse_tensors_map: AddManySparseToTensorsMap AddSparseToTensorsMap
  TakeManySparseFromTensorsMap
ops.state.checkpoint_remap: GenerateVocabRemapping LoadAndRemapMatrix
ops.state.reference: Assign AssignAdd AssignSub CountUpTo DestroyTemporaryVariable
  IsVariableInitialized ResourceCountUpTo TemporaryVariable Variable VariableV2
ops.state.resource: AssignAddVariableOp AssignSubVariableOp AssignVariableOp DestroyResourceOp
  ReadVariableOp ResourceGather ResourceGatherNd VarHandleOp VarIsInitializedOp VariableShape
ops.state.save_restore: MergeV2Checkpoints Restore RestoreSlice RestoreV2 Save SaveSlices SaveV2
  ShardedFilename ShardedFilespec
ops.state.scatter: ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin
  ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate
  ResourceScatterSub ResourceScatterUpdate ScatterAdd ScatterDiv ScatterMax ScatterMin ScatterMul
  ScatterNdAdd ScatterNdSub ScatterNdUpdate ScatterSub ScatterUpdate
ops.state.session_handles: DeleteSessionTensor GetSessionHandle GetSessionTensor
ops.state.training: ApplyAdagrad ApplyAdagradDA ApplyAdagradV2 ApplyGradientDescent ApplyMomentum
  ApplyProximalAdagrad ApplyProximalGradientDescent ResourceApplyAdagrad ResourceApplyAdagradDA
  ResourceApplyAdagradV2 ResourceApplyGradientDescent ResourceApplyKerasMomentum
  ResourceApplyMomentum ResourceApplyProximalAdagrad ResourceApplyProximalGradientDescent
  ResourceSparseApplyAdagrad ResourceSparseApplyAdagradDA ResourceSparseApplyAdagradV2
  ResourceSparseApplyKerasMomentum ResourceSparseApplyMomentum ResourceSparseApplyProximalAdagrad
  ResourceSparseApplyProximalGradientDescent SparseApplyAdagrad SparseApplyAdagradDA
  SparseApplyAdagradV2 SparseApplyMomentum SparseApplyProximalAdagrad
  SparseApplyProximalGradientDescent
ops.state.training_adaptive: ApplyAdaMax ApplyAdadelta ApplyAdam ApplyAddSign ApplyCenteredRMSProp
  ApplyFtrl ApplyFtrlV2 ApplyPowerSign ApplyRMSProp ResourceApplyAdaMax ResourceApplyAdadelta
  ResourceApplyAdam ResourceApplyAdamWithAmsgrad ResourceApplyAddSign ResourceApplyCenteredRMSProp
  ResourceApplyFtrl ResourceApplyFtrlV2 ResourceApplyPowerSign ResourceApplyRMSProp
  ResourceSparseApplyAdadelta ResourceSparseApplyCenteredRMSProp ResourceSparseApplyFtrl
  ResourceSparseApplyFtrlV2 ResourceSparseApplyRMSProp SparseApplyAdadelta
  SparseApplyCenteredRMSProp SparseApplyFtrl SparseApplyFtrlV2 SparseApplyRMSProp
ops.strings.decoding: DecodeCompressed DecodeJSONExample DecodePaddedRaw DecodeRaw ParseTensor
  SerializeTensor StringToNumber
ops.strings.files: MatchingFiles ReadFile WriteFile
ops.strings.format: AsString
ops.strings.hash: StringToHashBucket StringToHashBucketFast StringToHashBucketStrong
ops.strings.join: StringJoin
ops.strings.regex: RegexFullMatch RegexReplace StaticRegexFullMatch StaticRegexReplace
ops.strings.split: ReduceJoin StringSplit StringSplitV2 UnsortedSegmentJoin
ops.strings.substrings: DecodeBase64 EncodeBase64 StringLength StringLower StringStrip StringUpper
  Substr
ops.summaries.media: AudioSummary AudioSummaryV2 ImageSummary
ops.summaries.summary_ops: HistogramSummary MergeSummary ScalarSummary TensorSummary TensorSummaryV2
ops.summaries.writers: CloseSummaryWriter CreateSummaryFileWriter FlushSummaryWriter ImportEvent
  SummaryWriter
ops.summaries.written: WriteAudioSummary WriteGraphSummary WriteHistogramSummary WriteImageSummary
  WriteRawProtoSummary WriteScalarSummary WriteSummary
"""
