/// Unicode foldings that the standard library lacks, derived from those that it has.
extension Unicode.Scalar {
  /// Appends the UTF-8 of the full case folding (CaseFolding.txt, C and F).
  ///
  /// It is the lowercase of the uppercase of the lowercase, with two exceptions: the dotless `ı` stays, as only
  /// Turkic languages fold it, and Cherokee folds to its uppercase letters, which are older than its lowercase ones.
  /// The most frequent letters are folded without Unicode's tables.
  ///
  /// To bytes, because appending several scalars to a `UnicodeScalarView` copies it, and a text has as many such
  /// letters as letters.
  /// - Parameter length: with `simple`, a scalar that would fold to several becomes its lowercase letter instead.
  func appendCaseFolded(to result: inout [UInt8], _ length: String.FoldingLength) {
    switch value {
    case 0x41...0x5A: result.append(UInt8(value) | 0x20)
    case ..<0x80: result.append(UInt8(value))
    case 0xDF where length == .full: result.append(contentsOf: "ss".utf8)
    // Lowercase letters of Latin and Cyrillic.
    case 0xDF...0xFE, 0x430...0x45F, 0x131, 0x13A0...0x13F5: result.append(contentsOf: utf8)
    case 0xC0...0xDE where value != 0xD7, 0x410...0x42F: Self.append(value + 0x20, to: &result)
    case 0x400...0x40F: Self.append(value + 0x50, to: &result)
    case 0x13F8...0x13FD, 0xAB70...0xABBF: result.append(contentsOf: properties.uppercaseMapping.utf8)
    default:
      let properties = properties
      guard properties.changesWhenCaseMapped else { return result.append(contentsOf: utf8) }
      let folded = properties.lowercaseMapping.uppercased().lowercased()
      let isSimple = length == .full || folded.unicodeScalars.count == 1
      result.append(contentsOf: isSimple ? folded.utf8 : properties.lowercaseMapping.utf8)
    }
  }

  /// Appends the UTF-8 of a scalar below U+0800 and beyond ASCII.
  private static func append(_ value: UInt32, to result: inout [UInt8]) {
    assert((0x80..<0x800).contains(value), "two bytes of UTF-8")
    result.append(UInt8(0xC0 | value >> 6))
    result.append(UInt8(0x80 | value & 0x3F))
  }

  /// The replacement of a full-width or half-width form, or of a Latin digraph. It follows Unicode's compatibility
  /// decomposition; nil for all other scalars.
  var withoutWidth: String.UnicodeScalarView? {
    switch value {
    case 0x3000: Self.view(0x20)
    case 0xFF01...0xFF5E: Self.view(value - 0xFEE0)
    case 0xFF5F...0xFF9F: Self.view(Self.halfWidth[Int(value) - 0xFF5F].value)
    case 0xFFA0: Self.view(0x3164)
    case 0xFFA1...0xFFBE: Self.view(value - 0xFFA1 + 0x3131)
    case 0xFFC2...0xFFC7: Self.view(value - 0xFFC2 + 0x314F)
    case 0xFFCA...0xFFCF: Self.view(value - 0xFFCA + 0x3155)
    case 0xFFD2...0xFFD7: Self.view(value - 0xFFD2 + 0x315B)
    case 0xFFDA...0xFFDC: Self.view(value - 0xFFDA + 0x3161)
    case 0xFFE0...0xFFE6: Self.view(Self.wideSigns[Int(value) - 0xFFE0].value)
    case 0x132: "IJ".unicodeScalars
    case 0x133: "ij".unicodeScalars
    case 0x13F: "L·".unicodeScalars
    case 0x140: "l·".unicodeScalars
    case 0x1C4: "DŽ".unicodeScalars
    case 0x1C5: "Dž".unicodeScalars
    case 0x1C6: "dž".unicodeScalars
    case 0x1C7: "LJ".unicodeScalars
    case 0x1C8: "Lj".unicodeScalars
    case 0x1C9: "lj".unicodeScalars
    case 0x1CA: "NJ".unicodeScalars
    case 0x1CB: "Nj".unicodeScalars
    case 0x1CC: "nj".unicodeScalars
    case 0x1F1: "DZ".unicodeScalars
    case 0x1F2: "Dz".unicodeScalars
    case 0x1F3: "dz".unicodeScalars
    default: nil
    }
  }

  /// For U+FF5F to U+FF9F; the last two are the voiced sound marks.
  private static let halfWidth = Array(
    ("⦅⦆。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
      + "\u{3099}\u{309A}").unicodeScalars)

  /// For U+FFE0 to U+FFE6.
  private static let wideSigns = Array("¢£¬¯¦¥₩".unicodeScalars)

  private static func view(_ value: UInt32) -> String.UnicodeScalarView? {
    guard let scalar = Unicode.Scalar(value) else {
      preconditionFailure("the tables above have scalars only")
    }
    var view = String.UnicodeScalarView()
    view.append(scalar)
    return view
  }
}

extension String {
  /// The text with full-width and half-width forms and Latin digraphs replaced by ordinary letters.
  func withoutWidth(_ length: FoldingLength) -> String {
    guard unicodeScalars.contains(where: { $0.withoutWidth != nil }) else { return self }
    var result = [UInt8]()
    result.reserveCapacity(utf8.count)
    for scalar in unicodeScalars {
      if let plain = scalar.withoutWidth, length == .full || plain.count == 1 {
        for part in plain { result.append(contentsOf: part.utf8) }
      } else {
        result.append(contentsOf: scalar.utf8)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
