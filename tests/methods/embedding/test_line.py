from typing import ClassVar

from tests.methods.cases import MethodCase


class TestLINE(MethodCase):
    name = "line"
    arguments: ClassVar = {"dim": 16, "cache": False}
