# SPDX-License-Identifier: Apache-2.0
"""Clusters whose addresses a cloud's service tells: Kubernetes pods, or a group of GCE instances.

The services' packages (`kubernetes`, `google-api-python-client`) are imported when they are asked.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...engine.api import export
from .cluster import ClusterSpec
from .cluster_resolver import ClusterResolver, format_master_url


def _client_of(package: str, needs: str) -> Any:
    """A module of a service's client; ImportError says what is missing."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(needs) from error


class _AskedResolver(ClusterResolver):
    """The address of a task of a cluster that is asked for anew each time."""

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The address of a task, this one's if none is named; "" where that is not known."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        address = self.cluster_spec().task_address(task_type, task_id)
        return format_master_url(address, rpc_layer or self.rpc_layer)


@export(
    "contrib.cluster_resolver.KubernetesClusterResolver",
    "distribute.cluster_resolver.KubernetesClusterResolver",
)
class KubernetesClusterResolver(_AskedResolver):
    """The pods that Kubernetes runs under some labels (`tf.distribute.cluster_resolver`).

    Args:
        job_to_label_mapping: selectors of pods by job; None for
            `{"worker": ["job-name=tensorflow"]}`.
        tf_server_port: the port of the pods' servers.
        rpc_layer: the protocol of addresses.
        override_client: a client of Kubernetes (`kubernetes.client.CoreV1Api()`), with its
            credentials; None for the one of this machine's configuration.

    Raises:
        ImportError: no client is given, and the package `kubernetes` is not installed.

    Example:
        >>> from types import SimpleNamespace as Of
        >>> pod = Of(metadata=Of(name="a"), status=Of(phase="Running", host_ip="10.0.0.1"))
        >>> client = Of(list_pod_for_all_namespaces=lambda label_selector: Of(items=[pod]))
        >>> resolver = tf.distribute.cluster_resolver.KubernetesClusterResolver(
        ...     override_client=client
        ... )
        >>> resolver.master("worker", 0)
        'grpc://10.0.0.1:8470'
    """

    def __init__(
        self,
        job_to_label_mapping: Mapping[str, Sequence[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str | None = "grpc",
        override_client: Any = None,
    ) -> None:
        self._jobs = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port, self._client = tf_server_port, override_client or self._configured()
        self.task_type: str | None = None
        self.task_id: int | None = None
        self.rpc_layer = rpc_layer

    def _configured(self) -> Any:
        needs = (
            "The Kubernetes Python client must be installed before using the Kubernetes Cluster "
            "Resolver. To install the Kubernetes Python client, run `pip install kubernetes` on "
            "your command line."
        )
        _client_of("kubernetes.config", needs).load_kube_config()
        return _client_of("kubernetes.client", needs).CoreV1Api()

    def cluster_spec(self) -> ClusterSpec:
        """The ClusterSpec of the pods that there are now, by their names.

        Raises:
            RuntimeError: a pod is not running.
        """
        return ClusterSpec(
            {
                job: [address for selector in selectors for address in self._addresses(selector)]
                for job, selectors in self._jobs.items()
            }
        )

    def _addresses(self, selector: str) -> Iterator[str]:
        pods = self._client.list_pod_for_all_namespaces(label_selector=selector).items
        for pod in sorted(pods, key=lambda pod: str(pod.metadata.name)):
            if pod.status.phase != "Running":
                raise RuntimeError(
                    f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"'
                )
            yield f"{pod.status.host_ip}:{self._port}"


@export(
    "contrib.cluster_resolver.GCEClusterResolver", "distribute.cluster_resolver.GCEClusterResolver"
)
class GCEClusterResolver(_AskedResolver):
    """The running instances of a group of Google Compute Engine (`tf.distribute.cluster_resolver`).

    Args:
        project, zone, instance_group: which group it is.
        port: the port of the instances' servers.
        task_type: the job that they are.
        task_id: this one's number.
        rpc_layer: the protocol of addresses.
        credentials: who asks; "default" for this machine's.
        service: what `googleapiclient.discovery.build("compute", "v1")` gives; made if None.

    Raises:
        ImportError: no service is given, and the package `google-api-python-client` is missing.
    """

    def __init__(
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str | None = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ) -> None:
        self._where = {"project": project, "zone": zone}
        self._group, self._port = instance_group, port
        self._task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._service = self._built(credentials) if service is None else service

    @staticmethod
    def _built(credentials: Any) -> Any:
        needs = "googleapiclient must be installed before using the GCE cluster resolver"
        if credentials == "default":
            client = _client_of("oauth2client.client", needs)
            credentials = client.GoogleCredentials.get_application_default()
        discovery = _client_of("googleapiclient.discovery", needs)
        return discovery.build("compute", "v1", credentials=credentials)

    @property
    def task_type(self) -> str:
        """The job; RuntimeError where it is set."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        raise RuntimeError(
            "You cannot reset the task_type of the GCEClusterResolver after it has been created."
        )

    def cluster_spec(self) -> ClusterSpec:
        """The ClusterSpec of the instances that run now, by their addresses."""
        return ClusterSpec({self._task_type: sorted(map(self._address, self._instances()))})

    def _instances(self) -> Iterator[str]:
        """The names of the group's instances, page by page."""
        group = self._service.instanceGroups()
        request = group.listInstances(
            **self._where,
            instanceGroups=self._group,
            body={"instanceState": "RUNNING"},
            orderBy="name",
        )
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                yield item["instance"].rpartition("/")[2]
            request = group.listInstances_next(previous_request=request, previous_response=response)

    def _address(self, instance: str) -> str:
        found = self._service.instances().get(**self._where, instance=instance).execute()
        return f"{found['networkInterfaces'][0]['networkIP']}:{self._port}"
