import GraphModel

/// Names for notes' files: the beginning of the text, in characters that every file system preserves, and the
/// beginning of the id.
public enum NoteFileName {
  /// The file extension of notes.
  public static let ending = ".md"

  /// Returns a name such as `call-ann-mv87qkn3.md`.
  /// - Parameter isWhole: whether to include the complete id, if the short name is taken.
  public static func name(of text: String, id: UniqueID, isWhole: Bool = false) -> String {
    let id = id.description
    return "\(slug(text))-\(isWhole ? id : String(id.prefix(8)))\(ending)"
  }

  /// Returns the ASCII letters and digits of the first line that has any, in lower case and with dashes for the rest,
  /// at most 40 characters.
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

  /// Returns whether a name may be in a folder's list: a visible file directly in the folder.
  public static func isPlain(_ name: String) -> Bool {
    name.hasSuffix(ending) && !name.hasPrefix(".") && name.utf8.count <= 255
      && name.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != 0 }
  }
}
