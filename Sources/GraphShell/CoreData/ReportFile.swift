import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A new file for all entries of an import's report. It is opened before the import, so that a mistake about it is
/// noticed while nothing has happened.
final class ReportFile {
  private let path: String
  private let descriptor: Int32

  /// - Throws: `Refusal` if it exists or can't be created.
  init(_ path: String) throws {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("created") }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Writes a line of JSON for each entry.
  func write(_ entries: [ImportReport.Entry]) throws {
    // Bounded parts: the report may be as long as the store.
    for start in stride(from: 0, to: entries.count, by: ImportReport.maximumEntries) {
      let part = entries[start..<min(start + ImportReport.maximumEntries, entries.count)]
      try append(part.map { $0.json.text + "\n" }.joined())
    }
  }

  private func append(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("written") }
      rest = rest.dropFirst(count)
    }
  }

  private func failure(_ verb: String) -> Refusal {
    Refusal(
      .unavailable,
      "the report \(path) can't be \(verb) (\(String(cString: strerror(errno)))); name another file with --report")
  }
}

/// `write` of the C library, which a method hides.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
