/// Control words of rich text that only need a table.
enum RichTextControlWords {
  /// Control words that represent a character.
  static let letters: [String: Unicode.Scalar] = [
    "par": "\n", "line": "\n", "sect": "\n", "page": "\n", "row": "\n", "tab": "\t", "cell": "\t", "nestcell": "\t",
    "nestrow": "\n", "lquote": "\u{2018}", "rquote": "\u{2019}", "ldblquote": "\u{201C}", "rdblquote": "\u{201D}",
    "bullet": "\u{2022}", "endash": "\u{2013}", "emdash": "\u{2014}", "enspace": "\u{2002}", "emspace": "\u{2003}",
    "qmspace": "\u{2005}", "zwj": "\u{200D}", "zwnj": "\u{200C}", "ltrmark": "\u{200E}", "rtlmark": "\u{200F}",
  ]

  /// Whether a control word represents a visible character, and not the end of a line or a tab.
  static func isVisible(_ word: String) -> Bool {
    if let letter = letters[word] { !["\n", "\t"].contains(letter) } else { false }
  }

  /// The address in a field's instruction, `HYPERLINK "https://example.org"`; nil for another field, and for a link to
  /// a place in the text.
  static func address(ofLink instruction: String) -> String? {
    let words = instruction.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[0].uppercased() == "HYPERLINK" else { return nil }
    var rest = words[1].drop { $0 == " " }
    let isQuoted = rest.first == "\""
    if isQuoted { rest = rest.dropFirst() }
    let address = rest.prefix { $0 != (isQuoted ? "\"" : " ") }
    return address.isEmpty || address.hasPrefix("\\") || address.hasPrefix("#") ? nil : String(address)
  }

  /// Destinations whose groups contain no visible text.
  static let ignored: Set<String> = [
    "stylesheet", "info", "pict", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf",
    "footnote", "annotation", "object", "filetbl", "revtbl", "listtable", "listoverridetable", "themedata",
    "colorschememapping", "datastore", "latentstyles", "xmlnstbl", "rsidtbl", "nonshppict", "shp", "do",
    "comment", "bkmkstart", "bkmkend", "pn", "tc", "xe", "rxe", "generator", "private",
  ]
}
