import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file of an import's mapping, locked for one import at a time. Every event is on disk before the import
/// continues.
final class ImportMappingFile {
  let path: String
  private(set) var mapping: ImportMapping
  private let descriptor: Int32

  /// Opens or creates the file.
  /// - Parameters:
  ///   - source: the `Z_UUID` of the store.
  ///   - target: the id of the graph's store.
  /// - Throws: `Refusal` if it can't be read and written, is in use, or belongs to another store.
  init(_ path: String, source: String, target: UniqueID) throws {
    self.path = path
    mapping = ImportMapping(source: source, target: target)
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else {
      throw Refusal(
        .unavailable,
        "the mapping \(path) can't be written (\(String(cString: strerror(errno)))); name another file with --mapping")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ProgramRefusal("the mapping \(path) is not a regular file; name another one with --mapping")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw Refusal(.unavailable, "another import is using the mapping \(path)")
    }
    let bytes = try read(size: status.st_size)
    // A killed import may have written a part of its last line.
    let end = bytes.lastIndex(of: 0x0A).map { $0 + 1 }
    if let end {
      try parse(bytes[..<end])
      try truncate(to: end)
      try check(source: source, target: target)
    } else {
      guard mapping.head.utf8.starts(with: bytes) else { throw unreadable(1, "it is not the mapping of an import") }
      try truncate(to: 0)
      try append(mapping.head + "\n")
    }
  }

  deinit {
    // A process that is being spawned still holds the descriptor, and would keep the lock.
    if descriptor >= 0 {
      flock(descriptor, LOCK_UN)
      close(descriptor)
    }
  }

  private func check(source: String, target: UniqueID) throws {
    guard mapping.source == source else {
      throw ProgramRefusal(
        "the mapping \(path) belongs to another Core Data store (\(mapping.source)), and this one is \(source); name "
          + "another file with --mapping")
    }
    guard mapping.target == target else {
      throw ProgramRefusal(
        "the mapping \(path) belongs to another graph; name another file with --mapping to import the store into this one"
      )
    }
  }

  /// Records events together: all of them are read again, or a part of the first ones.
  func record(_ lines: [ImportMapping.Line]) throws {
    if lines.isEmpty { return }
    try append(lines.map { $0.text + "\n" }.joined())
    for line in lines { mapping.apply(line) }
  }

  private func parse(_ bytes: ArraySlice<UInt8>) throws {
    for (index, line) in bytes.dropLast().split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      do throws(ImportMapping.ParseError) {
        if index == 0 {
          mapping = try ImportMapping(head: Array(line))
        } else {
          mapping.apply(try ImportMapping.Line(Array(line)))
        }
      } catch {
        throw unreadable(index + 1, error.reason)
      }
    }
  }

  private func unreadable(_ line: Int, _ reason: String) -> Refusal {
    Refusal(
      .malformed,
      "line \(line) of the mapping \(path) can't be read: \(reason); name another file with --mapping (the import then "
        + "takes all rows as new)")
  }

  private func failure(_ verb: String) -> Refusal {
    Refusal(.unavailable, "the mapping \(path) can't be \(verb) (\(String(cString: strerror(errno))))")
  }

  private func read(size: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    var count = 0
    while count < size {
      let part = bytes.withUnsafeMutableBytes { buffer in
        pread(descriptor, buffer.baseAddress?.advanced(by: count), size - count, count)
      }
      if part < 0, errno == EINTR { continue }
      guard part > 0 else { throw failure("read") }
      count += part
    }
    return bytes
  }

  private func truncate(to size: Int) throws {
    guard ftruncate(descriptor, size) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else { throw failure("written") }
  }

  private func append(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("written") }
      rest = rest.dropFirst(count)
    }
    guard fsync(descriptor) == 0 else { throw failure("written") }
  }
}
