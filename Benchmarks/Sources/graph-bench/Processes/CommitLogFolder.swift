import Foundation

/// The folder of a daemon's commit log, as docs/commit-log.md describes it.
struct CommitLogFolder {
  let path: String

  /// - Parameter data: the data directory.
  init(data: String) { path = data + "/log" }

  var exists: Bool { access(path, F_OK) == 0 }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

  /// The space on disk, in MiB.
  var mebibytes: Double {
    let blocks = names.reduce(0) { sum, name in
      var status = stat()
      return stat("\(path)/\(name)", &status) == 0 ? sum + Int(status.st_blocks) : sum
    }
    return Double(blocks) * 512 / 1_048_576
  }

  /// The numbers of the segments that have records, in order.
  var begunSegments: [UInt64] { names.compactMap(number).sorted() }

  /// Returns a segment's number; nil if it was prepared and not begun, or if the file is not a segment.
  private func number(of name: String) -> UInt64? {
    guard name.hasSuffix(".segment"), let named = UInt64(name.dropLast(".segment".count)) else { return nil }
    let file = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var header = [UInt8](repeating: 0, count: 48)
    guard pread(file, &header, header.count, 0) == header.count, header.starts(with: Array("GraphLog".utf8)) else {
      return nil
    }
    let number = header[40..<48].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return number == named ? number : nil
  }
}
