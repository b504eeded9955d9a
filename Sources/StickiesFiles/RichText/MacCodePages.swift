/// The Macintosh character sets that the C library does not have, or has in an older form, by the number that Windows
/// gives them. The tables follow Apple's mapping to Unicode; U+FFFD marks a byte without a character.
enum MacCodePages {
  /// Decodes a byte from 0x80; nil without a table for the page or a character for the byte.
  static func scalar(_ byte: UInt8, in page: Int) -> Unicode.Scalar? {
    guard byte >= 0x80, let table = tables[page] else { return nil }
    let scalar = table[Int(byte) - 0x80]
    return scalar == "\u{FFFD}" ? nil : scalar
  }

  /// The second scalar of a byte that represents two; nil for all others.
  static func second(_ byte: UInt8, in page: Int) -> Unicode.Scalar? {
    // Lamed with holam has no code point of its own.
    page == 10_005 && byte == 0xC0 ? "\u{5B9}" : nil
  }

  private static let tables: [Int: [Unicode.Scalar]] = [
    10_004: table(arabic), 10_005: table(hebrew), 10_006: table(greek), 10_007: table(cyrillic),
    10_010: roman(romanian), 10_017: table(cyrillic), 10_079: roman(icelandic), 10_081: roman(turkish),
    10_082: roman(croatian),
  ]

  private static func table(_ letters: String) -> [Unicode.Scalar] {
    let table = Array(letters.unicodeScalars)
    precondition(table.count == 128, "a table covers 0x80 to 0xFF")
    return table
  }

  /// A variant of Mac Roman.
  private static func roman(_ others: [UInt8: Unicode.Scalar]) -> [Unicode.Scalar] {
    CodePage.macLetters.enumerated().map { offset, letter in
      if let other = others[UInt8(0x80 + offset)] { other } else { letter }
    }
  }

  private static let arabic =
    "Ä\u{A0}ÇÉÑÖÜáàâä\u{6BA}«çéèêëí…îïñó»ôö÷úùûü !\"#$\u{66A}&'()*+\u{60C}-./\u{660}\u{661}\u{662}\u{663}"
    + "\u{664}\u{665}\u{666}\u{667}\u{668}\u{669}:\u{61B}<=>\u{61F}\u{274A}\u{621}\u{622}\u{623}\u{624}\u{625}"
    + "\u{626}\u{627}\u{628}\u{629}\u{62A}\u{62B}\u{62C}\u{62D}\u{62E}\u{62F}\u{630}\u{631}\u{632}\u{633}"
    + "\u{634}\u{635}\u{636}\u{637}\u{638}\u{639}\u{63A}[\\]^_\u{640}\u{641}\u{642}\u{643}\u{644}\u{645}\u{646}"
    + "\u{647}\u{648}\u{649}\u{64A}\u{64B}\u{64C}\u{64D}\u{64E}\u{64F}\u{650}\u{651}\u{652}\u{67E}\u{679}"
    + "\u{686}\u{6D5}\u{6A4}\u{6AF}\u{688}\u{691}{|}\u{698}\u{6D2}"

  private static let hebrew =
    "Ä\u{FB1F}ÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü !\"#$%\u{20AA}')(*+,-./0123456789:;<=>?\u{5DC}„\u{FFFD}\u{FFFD}"
    + "\u{FFFD}\u{FFFD}\u{5BC}\u{FB4B}\u{FB35}…\u{A0}\u{5B8}\u{5B7}\u{5B5}\u{5B6}\u{5B4}–—“”‘’\u{FB2A}\u{FB2B}"
    + "\u{5BF}\u{5B0}\u{5B2}\u{5B1}\u{5BB}\u{5B9}\u{5C7}\u{5B3}\u{5D0}\u{5D1}\u{5D2}\u{5D3}\u{5D4}\u{5D5}"
    + "\u{5D6}\u{5D7}\u{5D8}\u{5D9}\u{5DA}\u{5DB}\u{5DC}\u{5DD}\u{5DE}\u{5DF}\u{5E0}\u{5E1}\u{5E2}\u{5E3}"
    + "\u{5E4}\u{5E5}\u{5E6}\u{5E7}\u{5E8}\u{5E9}\u{5EA}}]{[|"

  private static let greek =
    "Ä¹²É³ÖÜ΅àâä΄¨çéèêë£™îï•½‰ôö¦€ùûü†ΓΔΘΛΞΠß®©ΣΪ§≠°·Α±≤≥¥ΒΕΖΗΙΚΜΦΫΨΩάΝ¬ΟΡ≈Τ«»…\u{A0}ΥΧΆΈœ–―“”‘’÷ΉΊΌΎέήίόΏύαβ"
    + "ψδεφγηιξκλμνοπώρστθωςχυζϊϋΐΰ\u{AD}"

  private static let cyrillic =
    "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ†°Ґ£§•¶І®©™Ђђ≠Ѓѓ∞±≤≥іµґЈЄєЇїЉљЊњјЅ¬√ƒ≈∆«»…\u{A0}ЋћЌќѕ–—“”‘’÷„ЎўЏџ№Ёёяабв"
    + "гдежзийклмнопрстуфхцчшщъыьэю€"

  private static let croatian: [UInt8: Unicode.Scalar] = [
    0xA9: "Š", 0xAE: "Ž", 0xB4: "∆", 0xB9: "š", 0xBE: "ž", 0xC6: "Ć", 0xC8: "Č", 0xD0: "Đ",
    0xD8: "\u{F8FF}", 0xD9: "©", 0xDE: "Æ", 0xDF: "»", 0xE0: "–", 0xE6: "ć", 0xE8: "č", 0xF0: "đ",
    0xF9: "π", 0xFA: "Ë", 0xFD: "Ê", 0xFE: "æ",
  ]

  private static let icelandic: [UInt8: Unicode.Scalar] = [
    0xA0: "Ý", 0xDC: "Ð", 0xDD: "ð", 0xDE: "Þ", 0xDF: "þ", 0xE0: "ý",
  ]

  private static let romanian: [UInt8: Unicode.Scalar] = [
    0xAE: "Ă", 0xAF: "Ș", 0xBE: "ă", 0xBF: "ș", 0xDE: "Ț", 0xDF: "ț",
  ]

  private static let turkish: [UInt8: Unicode.Scalar] = [
    0xDA: "Ğ", 0xDB: "ğ", 0xDC: "İ", 0xDD: "ı", 0xDE: "Ş", 0xDF: "ş", 0xF5: "\u{FFFD}",
  ]
}
