import GraphModel

/// The values that Core Data keeps in files beside a store: in `.NAME_SUPPORT/_EXTERNAL_DATA`, where NAME is the
/// store's name without its extension.
///
/// The column has a tag, one byte: 1 before the bytes themselves, 2 before the name of a file, a UUID, often with a NUL
/// at its end. A file contains the value without a tag.
struct ExternalStorage: Sendable {
  private let folder: String

  /// The maximum size of a file, in bytes: as much as fits into a commit.
  static let maximumFileSize = 16 << 20

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

  /// The value of a tagged column. Bytes without a tag are from before the app stored values externally.
  func value(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
    if bytes.first == Self.inlineTag { return Array(bytes.dropFirst()) }
    guard let name = Self.fileName(bytes) else { return bytes }
    let reader: FileReader
    do {
      reader = try FileReader(folder + "/" + name, name: "its external file \(name)")
      guard reader.size <= Self.maximumFileSize else {
        throw Failure(
          reason:
            "its external file \(name) has \(reader.size) bytes; at most \(Self.maximumFileSize) fit into a commit")
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
