// Tests: WriteAheadLogTests.swift
import Foundation
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The check of the WAL beside a database before SQLite opens it.
///
/// SQLite would overwrite everything after a damaged frame.
package enum WriteAheadLogFile {
  /// - Parameter path: the path of the database.
  /// - Throws: `StoreFailure(.corrupt)` if commits are missing from the middle of the WAL. No file was changed.
  package static func refuseLoss(beside path: String) throws {
    if let loss = try loss(beside: path) {
      throw StoreFailure(
        .corrupt, "the log \(path)-wal has lost commits from its middle", cause: sentence(loss),
        advice: "Nothing was touched. Keep a copy of all files, run stickiesd check, and restore a backup.")
    }
  }

  package static func sentence(_ loss: WriteAheadLogScan.Gap) -> String {
    (loss.frame == 0 ? "its header" : "frame \(loss.frame) at byte \(loss.offset)")
      + " is damaged, frame \(loss.survivor) of a later commit is sound"
  }

  package static func loss(beside path: String) throws -> WriteAheadLogScan.Gap? {
    let log = path + "-wal"
    // O_NONBLOCK: opening a pipe of that name must not block.
    let descriptor = open(log, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw StoreFiles.failure("\(log) can't be read", errno)
    }
    defer { close(descriptor) }
    // A program that ignores our lock may be writing. If the WAL restarts during the scan, the scan is repeated.
    for _ in 0..<3 {
      let header = try bytes(of: descriptor, 0..<WriteAheadLogScan.headerSize, log)
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw StoreFiles.failure("\(log) can't be read", errno) }
      let scan = WriteAheadLogScan(size: Int(status.st_size)) { try bytes(of: descriptor, $0, log) }
      guard let loss = try scan.loss(pageSize: StoreFiles.pageSize(of: path)) else { return nil }
      if try bytes(of: descriptor, 0..<WriteAheadLogScan.headerSize, log) == header { return loss }
    }
    return nil
  }

  static func bytes(of descriptor: Int32, _ range: Range<Int>, _ name: String) throws -> [UInt8] {
    var result = [UInt8](repeating: 0, count: range.count)
    var filled = 0
    while filled < result.count {
      let count = result.withUnsafeMutableBytes { buffer in
        pread(
          descriptor, UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).baseAddress, buffer.count - filled,
          off_t(range.lowerBound + filled))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw StoreFiles.failure("\(name) can't be read", errno) }
      if count == 0 { break }
      filled += count
    }
    return Array(result.prefix(filled))
  }
}
