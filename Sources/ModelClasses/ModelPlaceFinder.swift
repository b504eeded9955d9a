import Foundation
import ModelFiles

/// Finds the place of a model's mistake in its file, for messages in the format of compiler errors. A build log shows
/// them, and an editor opens the file there.
///
/// A mistake names its place by a path: `entities[1].attributes[0].type`. The finder follows it through the text of
/// the file as far as it leads; something that is missing is reported at the object that lacks it.
struct ModelPlaceFinder {
  private let bytes: [UInt8]

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  /// Writes the mistakes to standard error, one per line.
  func report(_ error: ModelError, in path: String) {
    let lines = error.mistakes.map { "\(message($0, in: path))\n" }.joined()
    FileHandle.standardError.write(Data(lines.utf8))
  }

  /// `FILE:LINE:COLUMN: error: …`
  func message(_ mistake: ModelError.Problem, in path: String) -> String {
    // The place of a file that is not valid JSON.
    if let place = mistake.path.wholeMatch(of: #/line (\d+), column (\d+)/#) {
      return "\(path):\(place.1):\(place.2): error: \(mistake.reason)"
    }
    let (line, column) = place(of: mistake.path)
    return "\(path):\(line):\(column): error: \(mistake)"
  }

  /// The line, and the column in bytes, both from 1.
  private func place(of path: String) -> (line: Int, column: Int) {
    var value = skippingBlanks(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
    var place = value
    for step in Self.steps(path) {
      guard let next = follow(step, from: value) else { break }
      (place, value) = next
    }
    let before = bytes[..<min(place, bytes.count)]
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? before.startIndex
    return (line, before.count - start + 1)
  }

  private enum Step {
    case name(String)
    case index(Int)
  }

  private static func steps(_ path: String) -> [Step] {
    path.matches(of: #/\[(\d+)\]|([^.\[\]]+)/#).map { match in
      if let index = match.1.flatMap({ Int($0) }) { .index(index) } else { .name(String(match.0)) }
    }
  }

  /// The place of a member's name, or of an element, and that of its value. Nil if the value at `value` lacks it.
  private func follow(_ step: Step, from value: Int) -> (place: Int, value: Int)? {
    var position = skippingBlanks(value + 1)
    var index = 0
    while position < bytes.count, ![UInt8(ascii: "}"), UInt8(ascii: "]")].contains(bytes[position]) {
      let place = position
      switch (step, bytes[value]) {
      case (.name(let name), UInt8(ascii: "{")):
        let end = skippingValue(position)
        let isName = bytes[position..<end].elementsEqual(Array("\"\(name)\"".utf8))
        position = skippingBlanks(skippingBlanks(end) + 1)
        if isName { return (place, position) }
      case (.index(let wanted), UInt8(ascii: "[")):
        if index == wanted { return (place, place) }
        index += 1
      default: return nil
      }
      position = skippingBlanks(skippingValue(position))
      if position < bytes.count, bytes[position] == UInt8(ascii: ",") { position = skippingBlanks(position + 1) }
    }
    return nil
  }

  private func skippingBlanks(_ position: Int) -> Int {
    var position = position
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    return position
  }

  /// The index after a value. The file is valid JSON; otherwise its mistake would have a line and a column.
  private func skippingValue(_ position: Int) -> Int {
    var (position, depth) = (position, 0)
    repeat {
      guard position < bytes.count else { return bytes.count }
      switch bytes[position] {
      case UInt8(ascii: "\""):
        position += 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
          position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position += 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        position += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D: position += 1
      default:
        // A number, true, false or null.
        while position < bytes.count, !Self.ends.contains(bytes[position]) { position += 1 }
      }
    } while depth > 0
    return min(position, bytes.count)
  }

  private static let ends = Set(",:]} \t\r\n".utf8)
}
