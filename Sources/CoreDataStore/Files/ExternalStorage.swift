import GraphModel

/// The values that Core Data keeps in files beside a store: in `.NAME_SUPPORT/_EXTERNAL_DATA`, where NAME is the
/// store's name without its extension.
///
/// The column has a tag, one byte: 1 before the bytes themselves, 2 before the name of a file, a UUID, often with a NUL
/// at its end. A file contains the value without a tag.
struct ExternalStorage: Sendable {
  private let folder: String

  /// The maximum size of a file, in bytes: that of an object.
  static let maximumFileSize = RowSize.maximum

  private static let inlineTag: UInt8 = 1
  private static let fileTag: UInt8 = 2

  /// - Parameter store: the store's real path.
  init(store: String) {
    let name = store.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init)
    let base = name.map { name in name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name }
    guard let name, let base else { preconditionFailure("a split path has a last part") }
    folder = "\(store.dropLast(name.count)).\(base)_SUPPORT/_EXTERNAL_DATA"
  }

  /// A reason why a value can't be read.
  struct Failure: Error {
    let reason: String
  }

  /// How a value of a column begins.
  enum Form {
    /// A reference to a file.
    case file
    /// Bytes after the tag that begin like a file of a known format.
    case taggedFile
    /// The byte 1, which is a tag or data.
    case one
    case other
  }

  /// How a value begins, from its first bytes; 38 are enough.
  static func form(_ bytes: [UInt8]) -> Form {
    if fileName(bytes) != nil { return .file }
    guard bytes.first == inlineTag else { return .other }
    let rest = bytes.dropFirst()
    if formats.contains(where: { rest.starts(with: $0) }) { return .taggedFile }
    // HEIC, MPEG-4 and QuickTime have their type after a length.
    return rest.dropFirst(4).starts(with: "ftyp".utf8) ? .taggedFile : .one
  }

  /// The first bytes of JPEG, PNG, TIFF, gzip, and of formats that begin with text.
  private static let formats: [[UInt8]] =
    [
      [0xFF, 0xD8, 0xFF], [0x89, 0x50, 0x4E, 0x47], [0x49, 0x49, 0x2A, 0], [0x4D, 0x4D, 0, 0x2A], [0x1F, 0x8B, 0x08],
      [0x50, 0x4B, 0x03, 0x04],
    ] + ["bplist", "GIF8", "%PDF-", "RIFF", "{\\rtf", "<?xml", "SQLite format 3"].map { Array($0.utf8) }

  /// The value of a tagged column. Bytes without a tag are from before the app stored values externally.
  func value(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
    if bytes.first == Self.inlineTag { return Array(bytes.dropFirst()) }
    guard let name = Self.fileName(bytes) else { return bytes }
    let reader: FileReader
    do {
      reader = try FileReader(folder + "/" + name, name: "its external file \(name)")
      guard reader.size <= Self.maximumFileSize else {
        throw Failure(reason: RowSize.reason(String(reader.size), file: name))
      }
      return try reader.read(atMost: reader.size)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(
        reason: (error as? Refusal).map(\.message) ?? "its external file \(name) can't be read")
    }
  }

  /// The name of the file that a tagged value refers to; nil if it is no reference.
  static func fileName(_ bytes: [UInt8]) -> String? {
    guard bytes.first == fileTag, bytes.count == 37 || (bytes.count == 38 && bytes.last == 0) else { return nil }
    let name = bytes[1..<37]
    let isUUID = name.enumerated().allSatisfy { place, byte in
      [8, 13, 18, 23].contains(place) ? byte == UInt8(ascii: "-") : Character(UnicodeScalar(byte)).isHexDigit
    }
    return isUUID ? String(decoding: name, as: UTF8.self) : nil
  }
}
