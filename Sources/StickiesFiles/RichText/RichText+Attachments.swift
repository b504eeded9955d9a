import GraphModel

extension RichText {
  /// Returns the names of a package's attachments, each once.
  ///
  /// The text's spelling of a name can differ from the file's in spaces, accents and non-ASCII letters. A name in the
  /// text without a file is matched to the file whose name has the same ASCII characters; a name without any match is
  /// a missing file.
  /// - Parameters:
  ///   - named: the names in the text.
  ///   - files: the names of the files beside it.
  /// - Returns: the names in ascending order.
  public static func attachments(_ named: [String], beside files: [String]) -> [String] {
    // By characters, so that a letter and its accents count as one, as one scalar or as two.
    func outline(_ name: ByteKey) -> [UInt8] { name.text.lowercased().compactMap(\.asciiValue).filter { $0 > 0x20 } }
    let (named, files) = (Set(named.map(ByteKey.init)), Set(files.map(ByteKey.init)))
    var free = Dictionary(grouping: files.subtracting(named)) { outline($0) }
    let missing = named.subtracting(files).sorted().filter { free[outline($0)]?.popLast() == nil }
    return files.union(missing).sorted().map(\.text)
  }
}
