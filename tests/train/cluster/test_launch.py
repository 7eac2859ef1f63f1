# SPDX-License-Identifier: Apache-2.0
"""`numbaflow cluster run`: tasks know who they are, are started again, and end with the chief."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numbaflow.train.cluster import launch

pytestmark = [
    pytest.mark.process,
    pytest.mark.cpu,
    pytest.mark.skipif(os.name != "posix", reason="tasks are ended by signals"),
]

TRAIN = """
import sys
import tensorflow as tf

tf.flags.DEFINE_string("job_name", "", "")
tf.flags.DEFINE_integer("task_index", 0, "")
tf.flags.DEFINE_list("ps_hosts", [], "")
tf.flags.DEFINE_list("worker_hosts", [], "")
FLAGS = tf.flags.FLAGS


def main(_):
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts, "worker": FLAGS.worker_hosts})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    with tf.device(tf.train.replica_device_setter(
            worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
        x = tf.get_variable("x", [], initializer=tf.zeros_initializer())
        step = tf.train.get_or_create_global_step()
        loss = tf.square(x - 3.0)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    with tf.train.MonitoredTrainingSession(
            master=server.target, is_chief=FLAGS.task_index == 0,
            hooks=[tf.train.StopAtStepHook(last_step=60)]) as sess:
        while not sess.should_stop():
            _, value = sess.run([train, x])
    print("trained to %.2f" % value)


tf.app.run(main)
"""

TELL = """
import json, os, sys
config = json.loads(os.environ["TF_CONFIG"])
print(json.dumps([config, sys.argv[1:]]), flush=True)
if config["task"]["type"] != "chief":
    import time
    time.sleep(60)
"""

FAIL = """
import os, sys
path = sys.argv[1]
index = [a for a in sys.argv if a.startswith("--task_index=")][0][-1]
if "--job_name=ps" in sys.argv:
    import time
    time.sleep(60)
with open(path + index, "a") as file:
    file.write("x")
tries = os.path.getsize(path + index)
if index == "0":
    import time
    while os.path.exists(path + "1") is False or os.path.getsize(path + "1") < 3:
        time.sleep(0.05)
    sys.exit(0)
if tries < 3:
    os.kill(os.getpid(), 9) if tries == 1 else sys.exit(7)
"""


def run(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(text)
    script, _, given = " ".join(options).partition(" -- ")
    command = [
        *script.split(),
        str(folder / "program.py"),
        *(["--", *given.split()] if given else []),
    ]
    return subprocess.run(
        [sys.executable, "-m", "numbaflow", "cluster", "run", "--local", *command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_program_of_the_old_kind_trains(tmp_path: Path) -> None:
    done = run(tmp_path, TRAIN, "--ps 1 --workers 2 --grace 2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[worker 0] trained to 3.00" in done.stdout


def test_tasks_know_who_they_are(tmp_path: Path) -> None:
    done = run(tmp_path, TELL, "--ps 2 --workers 2 --chief --grace 2 -- --rate 3")
    assert done.returncode == 0, done.stdout + done.stderr
    chief = next(line for line in done.stdout.splitlines() if line.startswith("[chief 0] "))
    config, arguments = json.loads(chief.removeprefix("[chief 0] "))
    assert config["task"] == {"type": "chief", "index": 0}
    assert {job: len(hosts) for job, hosts in config["cluster"].items()} == {
        "ps": 2,
        "chief": 1,
        "worker": 1,
    }
    assert arguments[:4] == ["--rate", "3", "--job_name=chief", "--task_index=0"]
    assert f"--ps_hosts={','.join(config['cluster']['ps'])}" in arguments


def test_a_task_that_fails_is_started_again(tmp_path: Path) -> None:
    done = run(tmp_path, FAIL, f"--grace 2 -- {tmp_path / 'tries'}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[worker 1] ended with signal SIGKILL; it is started again (1 of 3)" in done.stdout
    assert "[worker 1] ended with exit code 7; it is started again (2 of 3)" in done.stdout


def test_a_task_that_fails_too_often_ends_all(tmp_path: Path) -> None:
    done = run(tmp_path, FAIL, f"--restarts 1 --grace 2 -- {tmp_path / 'tries'}")
    assert done.returncode == 7
    assert "is not started again: all tasks are stopped" in done.stdout


def test_ending_the_command_ends_the_tasks(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    command = ["cluster", "run", "--local", "--grace", "2", "--no-flags", str(program)]
    process = subprocess.Popen(
        [sys.executable, "-m", "numbaflow", *command], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    found = [int(process.stdout.readline().split()[-1]) for _ in range(3)]
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 130
    process.stdout.close()
    end = time.monotonic() + 5
    while any(Path(f"/proc/{number}").exists() for number in found) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{number}").exists() for number in found)


def test_the_first_worker_is_the_chief() -> None:
    tasks = launch.tasks_of(1, 2)
    assert [str(task) for task in tasks] == ["ps 0", "worker 0", "worker 1"]
    assert [str(task) for task in launch.tasks_of(0, 2, True)] == ["chief 0", "worker 0"]
