import Foundation
import GraphTesting
import Testing

/// A file of Schema/Wire/golden: comment, the message's bytes in hexadecimal digits, an empty line, its text form.
struct GoldenMessage: CustomTestStringConvertible {
  /// `to-server.commit.insert`: the direction, the name in the oneof, and what is special about it.
  var name: String
  var bytes: [UInt8]
  var text: String

  var isToServer: Bool { name.hasPrefix("to-server.") }
  var type: String { isToServer ? "ToServer" : "ToClient" }
  var testDescription: String { name }

  enum ParseError: Error { case notGolden(file: String) }

  static func all() throws -> [GoldenMessage] {
    let folder = "Schema/Wire/golden"
    let files = try FileManager.default.contentsOfDirectory(atPath: "\(Fixtures.root)/\(folder)").sorted()
    return try files.map { file in
      guard file.hasPrefix("to-server.") || file.hasPrefix("to-client."), file.hasSuffix(".txt") else {
        throw ParseError.notGolden(file: file)
      }
      let content = String(decoding: try Fixtures.file("\(folder)/\(file)"), as: UTF8.self)
      guard let gap = content.firstRange(of: "\n\n") else { throw ParseError.notGolden(file: file) }
      let lines = content[..<gap.lowerBound].split(separator: "\n")
      let digits = lines.filter { !$0.hasPrefix("#") }.joined(separator: " ").split(separator: " ")
      let bytes = digits.compactMap { $0.count == 2 ? UInt8($0, radix: 16) : nil }
      guard lines.first?.hasPrefix("# ") == true, !bytes.isEmpty, bytes.count == digits.count else {
        throw ParseError.notGolden(file: file)
      }
      return GoldenMessage(name: String(file.dropLast(4)), bytes: bytes, text: String(content[gap.upperBound...]))
    }
  }
}
