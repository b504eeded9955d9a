import Foundation

/// The program `openssl`, for certificates in tests.
public enum OpenSSL {
  /// A failed run of `openssl`, with its output.
  public struct Failure: Error {
    /// The arguments of the run.
    public let arguments: [String]
    /// The text of both outputs.
    public let output: String
  }

  /// Runs it in a directory.
  /// - Returns: the text that it wrote to both outputs.
  /// - Throws: `Failure` if its status is not 0.
  @discardableResult public static func run(_ arguments: [String], in directory: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    process.currentDirectoryURL = URL(fileURLWithPath: directory)
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(arguments: arguments, output: text) }
    return text
  }
}
