import Foundation

/// Prints a message and ends the program with exit code 1.
package func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("graph-generate: error: \(message)\n".utf8))
  exit(1)
}
