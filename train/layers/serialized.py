# SPDX-License-Identifier: Apache-2.0
"""What SavedModels ask of layers; how it is made is imported when one is written."""

from __future__ import annotations

from typing import Any

from ..objects.tracking import AutoTrackable


class Serialized(AutoTrackable):
    """A layer as an object of a SavedModel: its kind, its description, its lists and functions."""

    @property
    def _object_identifier(self) -> str:
        return "_tf_keras_layer"

    @property
    def _tracking_metadata(self) -> str:
        from ..keras.saving.layer_objects import metadata_of

        return metadata_of(self)

    def _list_extra_dependencies_for_serialization(self, cache: Any) -> dict[str, Any]:
        from ..keras.saving.layer_objects import extra_dependencies

        return extra_dependencies(self, cache)

    def _list_functions_for_serialization(self, cache: Any) -> dict[str, Any]:
        from ..keras.saving.layer_objects import attributes_of

        own = super()._list_functions_for_serialization(cache)
        return {**attributes_of(self, cache).functions, **own}
