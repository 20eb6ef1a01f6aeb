"""The words of the needle tasks in each language: labels, names, sentences."""

from dataclasses import dataclass

NOT_FOUND = "not found"
"""The right answer when nothing says what was asked."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One language."""

    labels: tuple[str, ...]
    names: tuple[str, ...]
    line: str
    """One fact: `name`, `label`, `value`."""
    question: str
    """Quotes `name` and `label`."""
    prose: str
    """A sentence between facts: `number`."""


LANGUAGES = {
    "en": Wording(
        ("access code", "serial number", "delivery address", "contact", "reference", "checksum"),
        (
            "Kestrel",
            "Harbour Nine",
            "Old Mill",
            "North Gate",
            "Red Barn",
            "Quarry",
            "Lantern",
            "Pier",
        ),
        "The {label} of {name} is: {value}",
        'What is the "{label}" of "{name}"?',
        "Inspection {number} was made in the rain and took most of the morning.",
    ),
    "vi": Wording(
        (
            "mã truy cập",
            "số sê-ri",
            "địa chỉ giao hàng",
            "người liên hệ",
            "mã tham chiếu",
            "tổng kiểm",
        ),
        (
            "Trạm Hải Vân",
            "Kho Bến Tre",
            "Đồi Xanh",
            "Cầu Gỗ",
            "Ngã Ba",
            "Giếng Cổ",
            "Vườn Ổi",
            "Bãi Sậy",
        ),
        "{label} của {name} là: {value}",
        '"{label}" của "{name}" là gì?',
        "Lần kiểm tra {number} diễn ra dưới mưa và kéo dài gần hết buổi sáng.",
    ),
    "zh": Wording(
        ("访问码", "序列号", "送货地址", "联系人", "参考编号", "校验和"),
        ("海云站", "东码头", "旧磨坊", "北门仓", "红谷仓", "采石场", "灯塔街", "芦苇滩"),
        "{name}的{label}：{value}",
        "「{name}」的「{label}」是什么？",
        "第{number}次检查在雨中进行，用了大半个上午。",
    ),
    "ja": Wording(
        ("アクセスコード", "シリアル番号", "配送先", "担当者", "参照番号", "チェックサム"),
        (
            "みなと倉庫",
            "ふるい水車",
            "北ゲート",
            "赤いバーン",
            "採石場",
            "ともしび通り",
            "あしはら",
            "橋のたもと",
        ),
        "{name}の{label}：{value}",
        "「{name}」の「{label}」は何ですか？",
        "点検{number}は雨の中で行われ、午前中のほとんどを要しました。",
    ),
}
"""By code."""
