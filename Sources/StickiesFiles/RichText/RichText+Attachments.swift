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
    func outline(_ name: String) -> [UInt8] { name.lowercased().utf8.filter { $0 < 0x80 && $0 > 0x20 } }
    var free = Dictionary(grouping: Set(files).subtracting(named)) { outline($0) }
    let missing = Set(named).subtracting(files).sorted().filter { free[outline($0)]?.popLast() == nil }
    return Set(files).union(missing).sorted()
  }
}
