# SPDX-License-Identifier: Apache-2.0
"""A database that the package lmdb wrote: two leaves, a branch and a long value."""

from __future__ import annotations

import base64
import zlib

_WRITTEN = (
    "c-rlqcW~Qe7{(=8w&Wd3fv{a>7zKSAk;Du;?6AX5fzUuh8%B%63}pq%2s@M&cGzKuRRRPEJ8ZK`*k(5DFblM<lbGJMea"
    "HdnJ-<IBTh{0Ed-wa}d1akmNt%N`YdgJT#xz+PNKt;Lm-T-#_?-Ut;Xy~0{BfmVpU&;If^~{S2qA<JLI@#*kfBCip#Fc"
    "}-#0VIy!!w8++NM?Lx1}{gb+dqA%qY@2pKAr0k5V?S*a`8l&nmqlG#LCBAqBp=!x!lbG#~E67P+*#~Nbgv7%Te+7hja8"
    "qvN;N2D=Q5h;%Jgj>UPVJ|F&yYwc#QcvkwtxZd7Wty&ahnhoGp^{K<uszriEDsh1Gir-kqZ(>opd-*2s0b7XdX!eBPVp"
    "2;>5`k|N;xHGrM9{L-jZ2cO&V8SKiVkuCyl9{SUn$`f^{Ca&IQ+%g6kY`oei$Dz;!0LPJrtSY@Gx8;()$5pf3*Siv#-N"
    "fWA1OFAnI71N!2CzSy8IHt35D`eK8=*q|>q=!*^dVuQZepf5J)iv{{(fxcLvFBa&F1^QxvzF43y7U+uw`eK2;n4m8v=!"
    "*&ZVuHSypf4uqiwXK-g1(rbFDB@V0DTdlF9P&MfW8RO7XkVrKwkvtivWEQpf3jKivjv#fW8=@F9zs~0s3Nqz8Ih{2Iz}"
    "1|GoqU^#5t8Q~h`P|4x-xUI-yW!pOhw8&aj(3FF5G=W?A;fVoM4xk-SzNr1UYfVoM4xk-SzNr1UYfVoM4xk-SzNr1UYf"
    "VoM4xk-SzNr1UYfVoM4xk-SzNf=<x_Q9O(gE`v=bG8rWY#+?oKA5w8FlYN<&i28a?SsB}pf4WiiwFARfxdX4FCOTN2m0"
    "cHzIdQ79_Wh;`r?AVxS%gC=!*;b;)1@opf4`yiwpYVg1#)k|Kk0Pxcp~~&L;bk*(4hZLI@#*5JCtcWOx!7e0?B)-+wTF"
    "hC2J0tOV3xNYlfSXe^#c7A-Pj(UFTSzC`hoOD(<3vdb->8nwcTE3LfBswJzfzQ&rP*IL^Ure!;&uII0_?t1HQuwmIo8*"
    "j4dW}9zOzU5Y1Z?o-o+gI$c<4!y8vg>Y@yYI2*UVHDeZ`GLn_CKKdz_B$49Xzh~knt1h4n6GfBPLEdGF^Yv(Z?Kn-0=-"
    "3Og{0XlTSId@wC&YoN?w^XE&X5?s?~5aN$MG7f-$9(#tNtqUFk~uD<5l>#lFT;l`V8zU9{2+HSw&&b#iu=ic`F?tkFHh"
    "o(K;@yMf(bw2*YlU+|e{miq^J^w=Yi!Z(W%B!!vo_XWVx88nd`nx^vz5l_7AAS5u_S4Tk|KiK9X7qmj&9~ou|HF@cKmG"
    "j6ufP31ll8NH*3bG`KkH}xte^F>e%8<WSwHJ%{j8t$v;Kv;enJQ#gb+f=LW`Dv#ryvWA%qY@2qA=!;ZEWG|9bAYo<Bp8"
    "nx&Nde}Dcz%FsOjpK}8^H-K{kI5&WE12{K;a|1XxfO7*lH-K{kI5&WE1OD0E06zc!zk2?EctHO@LdqmFod3r@o_##~c="
    "qw^<Jrfvk7pmxKAwF%`*`;8?BhBAZ`kzz#kqg?m3((U8@1s5AN3al#s"
)

DATABASE = zlib.decompress(base64.b85decode(_WRITTEN))
# What is in it: a key was taken out again.
PAIRS = [(b"key-%03d" % i, b"value" * 8) for i in range(120) if i != 7]
PAIRS.append((b"long", bytes(range(256)) * 20))
