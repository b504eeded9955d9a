/// HTML's named characters that texts use: those of Latin-1, and punctuation.
enum HTMLEntities {
  static let letters: [String: Unicode.Scalar] = {
    var letters: [String: Unicode.Scalar] = [
      "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "OElig": "Œ", "oelig": "œ", "Scaron": "Š",
      "scaron": "š", "Yuml": "Ÿ", "fnof": "ƒ", "ensp": "\u{2002}", "emsp": "\u{2003}", "thinsp": "\u{2009}",
      "zwnj": "\u{200C}", "zwj": "\u{200D}", "lrm": "\u{200E}", "rlm": "\u{200F}", "ndash": "–", "mdash": "—",
      "lsquo": "‘", "rsquo": "’", "sbquo": "‚", "ldquo": "“", "rdquo": "”", "bdquo": "„", "dagger": "†",
      "Dagger": "‡", "bull": "•", "hellip": "…", "permil": "‰", "lsaquo": "‹", "rsaquo": "›", "euro": "€",
      "trade": "™", "larr": "←", "uarr": "↑", "rarr": "→", "darr": "↓", "harr": "↔", "minus": "−", "infin": "∞",
      "ne": "≠", "le": "≤", "ge": "≥", "asymp": "≈", "check": "✓", "star": "☆", "starf": "★", "hearts": "♥",
    ]
    for (offset, name) in latin.split(separator: " ").enumerated() {
      letters[String(name)] = Unicode.Scalar(UInt8(0xA0 + offset))
    }
    // A plain space, because plain text needs no nonbreaking one.
    letters["nbsp"] = " "
    return letters
  }()

  /// From U+00A0 to U+00FF.
  private static let latin =
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro "
    + "para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil "
    + "Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave "
    + "Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml "
    + "igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute "
    + "thorn yuml"
}
