"""Words of repair, fault and novelty in languages other than English.

Short lists of what subjects say most, by general knowledge of each language and by no project's
history. Where words have ends, a stem is matched from its beginning; Chinese, Japanese and Korean
words anywhere. All patterns read lower-case text.
"""

import re
from typing import Literal

REPAIR = (
    r"\b(?:corrig\w+|corregi\w+|correção|corrección|corretto|r[ée]par[eé]\w*|arregl\w+"
    r"|behe[bp]\w*|behob\w+|korrigier\w*|opgelost|napraw\w+|poprawi\w+"
    r"|исправ\w+|почин\w+|устран\w+|виправ\w+)\b"
    r"|修复|修復|修正|修理|修补|解决|解決|直す|直した|버그|수정|고침|해결"
)
FAULT = (
    r"\b(?:fehler\w*|abst[uü]rz\w*|falsch\w*|plantages?|erreurs?|fallos?|erros?|errores"
    r"|ошиб\w+|сбо[йяие]\w*|паден\w+|неверн\w+|некорректн\w+|помилк\w+|b[łl][ęe]d\w*)\b"
    r"|崩溃|崩潰|报错|错误|錯誤|异常|闪退|不具合|例外|バグ|クラッシュ|誤り|오류|충돌"
)
NOVELTY = (
    r"\b(?:neue[rs]?|hinzugef[uü]gt|hinzuf[uü]gen|unterst[uü]tz\w*|ajout\w*|nouve(?:au|lle)\w*"
    r"|añad\w+|agreg\w+|dodan\w*|добав\w+|поддерж\w+|реализ\w+)\b"
    r"|新增|添加|增加|支持|实现|引入|追加|実装|추가|구현|지원"
)
_PREFIXES: dict[Literal["fix", "feature", "upkeep", "docs", "test"], str] = {
    "fix": "修复 修復 修正 不具合修正 バグ修正 수정 исправление исправлено korrektur fehlerbehebung"
    " correction corrección correção",
    "feature": "新增 新功能 功能 機能追加 追加 기능 추가 добавлено funktion ajout",
    "upkeep": "重构 整理 リファクタリング 리팩터링 рефакторинг",
    "docs": "文档 文檔 ドキュメント 문서 документация dokumentation",
    "test": "测试 測試 テスト 테스트 тесты",
}
FOREIGN_KINDS = {word: kind for kind, words in _PREFIXES.items() for word in words.split()}
"""Words that stand before a colon or in brackets, as ``fix`` does in English, and what they say."""
FOREIGN_PREFIX = re.compile(
    r"^(?P<open>\[)?(?P<type>[^\W\d_]{2,16})(?(open)\]\s*:?|(?:\((?P<scope>[^()]{0,60})\))?\s*:)"
    r"\s*(?P<rest>\S.*)$"
)
_WIDE = str.maketrans("\uff1a\uff08\uff09\u3010\u3011\uff3b\uff3d\u3000", ":()[][] ")


def plain_signs(text: str) -> str:
    """The text with plain colons, brackets and blanks for the full-width ones of East Asia."""
    return text.translate(_WIDE)
