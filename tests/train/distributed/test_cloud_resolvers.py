# SPDX-License-Identifier: Apache-2.0
"""Clusters whose addresses services of a cloud tell."""

from __future__ import annotations

import sys
from types import SimpleNamespace as Of
from typing import Any
from unittest import mock

import pytest

import numbaflow as tf

pytestmark = pytest.mark.pure
resolvers = tf.distribute.cluster_resolver


def pods(*found: tuple[str, str, str]) -> Any:
    return Of(
        items=[
            Of(metadata=Of(name=name), status=Of(phase=phase, host_ip=address))
            for name, phase, address in found
        ]
    )


def client(**found: Any) -> Any:
    return Of(list_pod_for_all_namespaces=lambda label_selector: found[label_selector])


def test_pods_are_tasks_in_the_order_of_their_names() -> None:
    found = resolvers.KubernetesClusterResolver(
        {"worker": ["a", "b"], "ps": ["c"]},
        tf_server_port=7,
        override_client=client(
            a=pods(("w2", "Running", "1.1.1.2"), ("w1", "Running", "1.1.1.1")),
            b=pods(("w0", "Running", "1.1.1.0")),
            c=pods(("p", "Running", "1.1.1.9")),
        ),
    )
    assert found.cluster_spec().as_dict() == {
        "ps": ["1.1.1.9:7"],
        "worker": ["1.1.1.1:7", "1.1.1.2:7", "1.1.1.0:7"],
    }
    assert found.master() == ""
    found.task_type, found.task_id = "worker", 2
    assert found.master() == "grpc://1.1.1.0:7"
    assert found.master("ps", 0, rpc_layer="x") == "x://1.1.1.9:7"


def test_a_pod_that_does_not_run_is_an_error() -> None:
    found = resolvers.KubernetesClusterResolver(
        override_client=client(**{"job-name=tensorflow": pods(("a", "Failed", "1.1.1.1"))})
    )
    with pytest.raises(RuntimeError, match='Pod "a" is not running; phase: "Failed"'):
        found.cluster_spec()


def test_without_a_client_its_package_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("kubernetes.config", "googleapiclient.discovery"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install kubernetes"):
        resolvers.KubernetesClusterResolver()
    with pytest.raises(ImportError, match="googleapiclient must be installed"):
        resolvers.GCEClusterResolver("p", "z", "g", 1, credentials=None)
    config, api = mock.MagicMock(), mock.MagicMock()
    api.CoreV1Api().list_pod_for_all_namespaces.return_value = pods(("a", "Running", "1.1.1.1"))
    monkeypatch.setitem(sys.modules, "kubernetes", mock.MagicMock())
    monkeypatch.setitem(sys.modules, "kubernetes.config", config)
    monkeypatch.setitem(sys.modules, "kubernetes.client", api)
    found = resolvers.KubernetesClusterResolver()
    assert found.cluster_spec().as_dict() == {"worker": ["1.1.1.1:8470"]}
    config.load_kube_config.assert_called_once_with()


class Pages:
    """What Compute Engine's service answers: the instances of a group, in pages of one."""

    def __init__(self, **addresses: str) -> None:
        self._addresses, self._names = addresses, list(addresses)

    def instanceGroups(self) -> Any:  # noqa: N802
        def page(number: int) -> Any:
            items = [{"instance": f"https://x/{self._names[number]}"}]
            return Of(execute=lambda: {"items": items}, number=number)

        def after(previous_request: Any, previous_response: Any) -> Any:
            assert previous_response["items"]
            number = previous_request.number + 1
            return page(number) if number < len(self._names) else None

        def first(**asked: Any) -> Any:
            assert asked == {
                "project": "p",
                "zone": "z",
                "instanceGroups": "g",
                "body": {"instanceState": "RUNNING"},
                "orderBy": "name",
            }
            return page(0)

        return Of(listInstances=first, listInstances_next=after)

    def instances(self) -> Any:
        def get(project: str, zone: str, instance: str) -> Any:
            assert (project, zone) == ("p", "z")
            found = {"networkInterfaces": [{"networkIP": self._addresses[instance]}]}
            return Of(execute=lambda: found)

        return Of(get=get)


def test_instances_of_a_group_are_tasks() -> None:
    found = resolvers.GCEClusterResolver(
        "p", "z", "g", 8470, service=Pages(a="10.0.0.2", b="10.0.0.1")
    )
    assert found.cluster_spec().as_dict() == {"worker": ["10.0.0.1:8470", "10.0.0.2:8470"]}
    assert found.master() == "grpc://10.0.0.1:8470"
    found.task_id = 1
    assert found.master(rpc_layer="x") == "x://10.0.0.2:8470"
    with pytest.raises(RuntimeError, match="cannot reset the task_type"):
        found.task_type = "ps"
