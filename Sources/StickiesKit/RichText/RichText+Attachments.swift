extension RichText {
  /// The names of a package's attachments, each once.
  ///
  /// The text names them, too, but in its own letters: blanks, accents and letters of other scripts can differ from the
  /// name of the file. A name of the text that no file has is the file whose name has the same ASCII letters; only what
  /// is left after that is a file that is missing.
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
