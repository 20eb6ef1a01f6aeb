"""The words of the needle tasks in each language: labels, names, sentences, questions.

A question quotes what it asks for; nothing else of it is needed to answer. `other_labels` and
`other_names` say the same as `labels` and `names`, at the same places, without sharing a word with them.
"""

from dataclasses import dataclass

NOT_FOUND = "not found"
"""The right answer when nothing says what was asked."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One language."""

    labels: tuple[str, ...]
    other_labels: tuple[str, ...]
    names: tuple[str, ...]
    other_names: tuple[str, ...]
    relation: str
    """A label whose value is another name."""
    line: str
    """One fact: `name`, `label`, `value`."""
    further: str
    """One more value of the same: `name`, `label`, `value`."""
    dated: str
    """A fact of one day: `name`, `label`, `value`, `date`."""
    question: str
    """Quotes `name` and `label`."""
    question_all: str
    """Asks for each value that was given; holds `every`."""
    every: str
    """The words by which a question asks for all values."""
    question_dated: str
    """Quotes `label`, `name` and `date`."""
    question_hop: str
    """Quotes `label`, `relation` and `name`."""
    question_two: str
    """Quotes `label`, `name`, `label2`, `name2`."""
    prose: str
    """A sentence between facts: `number`, twice as an identifier."""


LANGUAGES = {
    "en": Wording(
        ("access code", "serial number", "delivery address", "contact", "reference", "checksum"),
        (
            "digits that open the door",
            "maker's running figure",
            "place where parcels go",
            "person to call",
            "file mark",
            "control total",
        ),
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
        (
            "the small falcon",
            "the ninth port",
            "the ancient grinding house",
            "the polar entrance",
            "the crimson shed",
            "the stone pit",
            "the hand lamp",
            "the jetty",
        ),
        "sister depot",
        "The {label} of {name} is: {value}",
        "A further {label} of {name} is: {value}",
        "On {date} the {label} of {name} was: {value}",
        'What is the "{label}" of "{name}"?',
        'Give all values of the "{label}" of "{name}", in the order in which the pages give them.',
        "all values",
        'What was the "{label}" of "{name}" on "{date}"?',
        'What is the "{label}" of the "{relation}" of "{name}"?',
        'What is the "{label}" of "{name}", and what is the "{label2}" of "{name2}"? In this order.',
        "Inspection INS-{number:05d} by crew CREW-{number:05d} was made in the rain.",
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
            "dãy chữ mở cửa",
            "dấu nhà sản xuất",
            "nơi nhận bưu kiện",
            "ai cần gọi",
            "ký hiệu hồ sơ",
            "con tính đối soát",
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
        (
            "chỗ nghỉ trên mây biển",
            "nhà chứa xứ dừa",
            "gò màu lục",
            "lối qua sông bằng ván",
            "nơi đường rẽ đôi",
            "hố nước lâu đời",
            "mảnh đất cây trái",
            "đầm lau",
        ),
        "kho chị em",
        "{label} của {name} là: {value}",
        "Thêm một {label} của {name} là: {value}",
        "Ngày {date}, {label} của {name} là: {value}",
        '"{label}" của "{name}" là gì?',
        'Cho biết tất cả giá trị của "{label}" của "{name}", theo thứ tự các trang.',
        "tất cả giá trị",
        '"{label}" của "{name}" vào ngày "{date}" là gì?',
        '"{label}" của "{relation}" của "{name}" là gì?',
        '"{label}" của "{name}" là gì, và "{label2}" của "{name2}" là gì? Theo thứ tự này.',
        "Lần kiểm tra INS-{number:05d} của tổ CREW-{number:05d} diễn ra dưới mưa.",
    ),
    "zh": Wording(
        ("访问码", "序列号", "送货地址", "联系人", "参考编号", "校验和"),
        ("开门数字", "出厂编排", "包裹去处", "该打电话给谁", "档案标记", "核对总数"),
        ("海云站", "东码头", "旧磨坊", "北门仓", "红谷仓", "采石场", "灯塔街", "芦苇滩"),
        (
            "波涛雾气之驿",
            "日出方泊位",
            "古老碾房",
            "朝极地入口库",
            "朱色粮棚",
            "岩矿坑",
            "照明高楼巷",
            "水草岸",
        ),
        "姊妹库",
        "{name}的{label}：{value}",
        "{name}的另一{label}：{value}",
        "{date}时{name}的{label}：{value}",
        "「{name}」的「{label}」是什么？",
        "请按页面顺序给出「{name}」的「{label}」的全部数值。",
        "全部数值",
        "「{name}」的「{label}」在「{date}」是什么？",
        "「{label}」：「{relation}」，属于「{name}」的那个，它的这一项是什么？",
        "「{label}」（「{name}」）和「{label2}」（「{name2}」）各是什么？按此顺序。",
        "班组（CREW-{number:05d}）在雨中做了检查（INS-{number:05d}）。",
    ),
    "ja": Wording(
        ("アクセスコード", "シリアル番号", "配送先", "担当者", "参照番号", "チェックサム"),
        (
            "扉を開ける数字",
            "製造元の通し",
            "荷物を届ける場所",
            "電話すべき人",
            "書類の印",
            "照合の合計",
        ),
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
        (
            "船着きの蔵",
            "昔ながらの粉ひき",
            "極方位の入口",
            "朱色の納屋",
            "岩を切る所",
            "灯火横丁",
            "水辺の草地",
            "川を渡る端",
        ),
        "姉妹倉庫",
        "{name}の{label}：{value}",
        "{name}の別の{label}：{value}",
        "{date}の{name}の{label}：{value}",
        "「{name}」の「{label}」は何ですか？",
        "「{name}」の「{label}」のすべての値を、ページの順に答えてください。",
        "すべての値",
        "「{name}」の「{label}」は「{date}」に何でしたか？",
        "「{label}」は何ですか：「{relation}」、すなわち「{name}」のそれについて。",
        "「{label}」（「{name}」）と「{label2}」（「{name2}」）は何ですか？この順で。",
        "班（CREW-{number:05d}）が雨の中で点検（INS-{number:05d}）をしました。",
    ),
}
"""By code."""
