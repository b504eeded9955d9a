// Tests: LogFailureTests.swift, MovedLogTests.swift
import GraphModel

/// The file operations of a log in one folder, so that tests can replace the real disk by a simulated one.
///
/// Every operation throws a `StoreFailure` that names the file.
package protocol LogDisk: Sendable {
  /// The path of the folder, for messages.
  var folder: String { get }
  /// Creates the folder if it does not exist, and makes its name durable.
  func makeFolder() throws
  /// The names in the folder, in any order; nil if there is no folder.
  func names() throws -> [String]?
  /// The identity of the folder that the path refers to now; nil if there is none.
  func folderIdentity() -> FileIdentity?
  /// The identity of the file that a name refers to now; nil if there is none.
  func identity(of name: String) -> FileIdentity?
  /// Creates an empty file, which did not exist, for reading and writing.
  func create(_ name: String) throws -> any LogFile
  func open(_ name: String, forWriting: Bool) throws -> any LogFile
  /// Renames a file.
  func rename(_ name: String, to newName: String) throws
  func remove(_ name: String) throws
  /// Makes preceding creations, renames and removals durable.
  func synchronizeFolder() throws
}

/// An open file of a log; deallocation closes it.
package protocol LogFile: AnyObject, Sendable {
  /// The identity of the open file, even if its name refers to another one.
  func identity() throws -> FileIdentity
  func size() throws -> Int
  /// Reads bytes until the buffer is full or the file ends.
  /// - Returns: the number of bytes read.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws
  /// Makes the preceding writes and the file's size durable.
  func synchronize() throws
}

extension LogDisk {
  func path(_ name: String) -> String { folder + "/" + name }
}
