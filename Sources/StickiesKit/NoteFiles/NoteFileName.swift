import GraphModel

/// What a note's file is called: the beginning of its text, in letters that every file system keeps as they are, and the
/// beginning of its id.
public enum NoteFileName {
  /// A file that belongs to a folder's notes ends so.
  public static let ending = ".md"

  /// `call-ann-mv87qkn3.md`
  /// - Parameter isWhole: with the whole id, when the short name is taken.
  public static func name(of text: String, id: UniqueID, isWhole: Bool = false) -> String {
    let id = id.description
    return "\(slug(text))-\(isWhole ? id : String(id.prefix(8)))\(ending)"
  }

  /// The first line that has ASCII letters or digits: these, small, with a dash for all that stands between; at most 40.
  static func slug(_ text: String) -> String {
    for line in text.utf8.prefix(4_096).split(separator: UInt8(ascii: "\n")).prefix(20) {
      var slug = [UInt8]()
      var isBetween = false
      for byte in line {
        var letter = byte
        if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) { letter += 32 }
        guard (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) || (0x30...0x39).contains(letter) else {
          isBetween = true
          continue
        }
        if isBetween, !slug.isEmpty { slug.append(UInt8(ascii: "-")) }
        isBetween = false
        guard slug.count < 40 else { break }
        slug.append(letter)
      }
      if slug.last == UInt8(ascii: "-") { slug.removeLast() }
      if !slug.isEmpty { return String(decoding: slug, as: UTF8.self) }
    }
    return "note"
  }

  /// Whether a name may stand in a folder's list: a file right in it, not hidden.
  public static func isPlain(_ name: String) -> Bool {
    name.hasSuffix(ending) && !name.hasPrefix(".") && name.utf8.count <= 255
      && name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != 0 }
  }
}
