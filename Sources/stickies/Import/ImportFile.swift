/// Detects the kind of a file by its name, ignoring case, and by its first bytes.
struct ImportFile {
  /// The name in lower case.
  private let name: String

  init(name: String) { self.name = name.lowercased() }

  /// Whether the import of a folder reads the file.
  var isOfAFolder: Bool { name.hasSuffix(".json") || isLines }

  var isLines: Bool { name.hasSuffix(".jsonl") }

  var isArchive: Bool { [".zip", ".tgz", ".tar.gz", ".tar"].contains { name.hasSuffix($0) } }

  private static let advice = "unpack it, and import the folder of the notes in it, such as Takeout/Keep"

  /// The message about a file with an archive's name, which may be too large to be read; nil for other names.
  static func archive(_ name: String) -> String? {
    ImportFile(name: name).isArchive ? "this is an archive; \(advice)" : nil
  }

  /// The reason why a file can't be imported, for common kinds of files; nil for others.
  static func reason(against bytes: [UInt8]) -> String? {
    func begins(_ start: [UInt8]) -> Bool { bytes.starts(with: start) }
    if begins([0x50, 0x4B, 0x03, 0x04]) || begins([0x50, 0x4B, 0x05, 0x06]) {
      return "this is a zip archive; \(advice)"
    }
    if begins([0x1F, 0x8B]) { return "this is a gzip archive; \(advice)" }
    if bytes.count > 262, bytes[257..<262].elementsEqual("ustar".utf8) { return "this is a tar archive; \(advice)" }
    if begins([0xFF, 0xFE]) || begins([0xFE, 0xFF]) { return "this is UTF-16; save it as UTF-8" }
    let start = String(decoding: bytes.prefix(64), as: UTF8.self).lowercased().drop(while: \.isWhitespace)
    if start.hasPrefix("{\\rtf") { return "this is rich text; import the .rtfd package that it lies in" }
    if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") || start.hasPrefix("<?xml") {
      return "this is a web page, not JSON; Takeout writes a .json file beside it"
    }
    return nil
  }
}
