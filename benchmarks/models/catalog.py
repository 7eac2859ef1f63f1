# SPDX-License-Identifier: Apache-2.0
"""All models by name: what tables call them and the function that builds each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import dqn, recurrent
from .dcgan import dcgan
from .embeddings import factorization_machine, matrix_factorization, sparse_linear, word2vec
from .gcn import gcn
from .gpt import gpt
from .lenet import lenet
from .mobilenet import mobilenet
from .parts import Model
from .resnet import resnet50
from .seq2seq import seq2seq
from .transformer_encoder import transformer_encoder
from .unet import unet
from .vae import vae
from .vgg import vgg
from .wavenet import wavenet


class Entry(NamedTuple):
    """A model: its title, and a function of a TensorFlow module and of sizes."""

    title: str
    build: Callable[..., Model]


MODELS = {
    entry.build.__name__: entry
    for entry in (
        Entry("LeNet, batch 64, Adam", lenet),
        Entry("VGG with batch norm, 9 convolutions, batch 32, Adam", vgg),
        Entry("ResNet-50, 160 px, batch 4, momentum", resnet50),
        Entry("MobileNet, 96 px, batch 8, RMSProp", mobilenet),
        Entry("U-Net, 96 px, batch 4, Adam", unet),
        Entry("DCGAN, 32 px, batch 32, two Adams", dcgan),
        Entry("Transformer encoder, 4 × 256, 8 × 64 words, Adam", transformer_encoder),
        Entry("GPT, 4 × 256, 4 × 128 words, Adam", gpt),
        Entry("LSTM(128) classifier, 28 steps, batch 64, Adam", recurrent.lstm_classifier),
        Entry("GRU(64) in both directions, 60 steps, batch 32, Adam", recurrent.bidirectional_gru),
        Entry("two LSTM(256) on letters, 50 steps, batch 32, Adam", recurrent.char_rnn),
        Entry("GRU(128) with attention, 20 and 20 steps, batch 32, Adam", seq2seq),
        Entry("WaveNet, 16 layers, 2 × 2048 samples, Adam", wavenet),
        Entry("word2vec with NCE, 50,000 × 128, batch 128, SGD", word2vec),
        Entry("factorization machine, 1e6 × 16, batch 256, Adagrad", factorization_machine),
        Entry("matrix factorization, 70,000 × 32, batch 512, Adam", matrix_factorization),
        Entry("logistic regression, 1e5 sparse features, FTRL", sparse_linear),
        Entry("variational autoencoder, 784-500-20, batch 100, Adam", vae),
        Entry("DQN acting on one screen", dqn.dqn_acting),
        Entry("DQN learning, batch 32, RMSProp", dqn.dqn_learning),
        Entry("GCN, 2708 nodes, 1433 features, Adam", gcn),
    )
}
