import Glibc

/// One of the C library's converters, from a code page to Unicode.
///
/// A converter has a state between its calls (a first byte of two, a letter that waits for its accent), so each reader
/// has its own. The library loads converters from files (gconv) when they are first used, and a small system may lack
/// them.
final class CodePageConverter {
  private let descriptor: iconv_t
  private let page: CodePage

  /// - Returns: nil when this system has no converter for the page.
  init?(_ page: CodePage) {
    // The library's sign of a failure is the address with all bits set.
    guard let name = page.converter, let descriptor = iconv_open("UTF-8", name), Int(bitPattern: descriptor) != -1
    else { return nil }
    (self.descriptor, self.page) = (descriptor, page)
  }

  deinit { iconv_close(descriptor) }

  /// The letters of a run of bytes as UTF-8. A byte or a pair of bytes that stands for no letter is U+FFFD.
  /// - Parameter isEscaped: which bytes the text writes as escapes: the second byte of a pair can look like ASCII.
  /// - Returns: also how many letters could not be read.
  func letters(of bytes: [UInt8], isEscaped: [Bool]) -> (text: [UInt8], unreadable: Int) {
    var (text, unreadable) = ([UInt8](), 0)
    var source = bytes.map { CChar(bitPattern: $0) }
    // No byte becomes more than two letters of three bytes each, and a flush adds one letter.
    var buffer = [CChar](repeating: 0, count: 6 * source.count + 16)
    source.withUnsafeMutableBufferPointer { source in
      buffer.withUnsafeMutableBufferPointer { buffer in
        var start = 0
        while start < source.count {
          start += convert(UnsafeMutableBufferPointer(rebasing: source[start...]), through: buffer, into: &text)
          guard start < source.count else { break }
          if let letter = page.exceptions[bytes[start]] {
            text += UTF8.encode(letter) ?? UTF8.encodedReplacementCharacter
            start += 1
            continue
          }
          text += UTF8.encodedReplacementCharacter
          unreadable += 1
          let second = start + 1
          let isPair =
            page.hasPairs && (0x81...0xFE).contains(bytes[start]) && second < bytes.count
            && (bytes[second] >= 0x80 || isEscaped[second])
          start += isPair ? 2 : 1
        }
      }
    }
    return (text, unreadable)
  }

  /// Converts up to the first byte that stands for no letter.
  /// - Returns: how many bytes were converted.
  private func convert(
    _ source: UnsafeMutableBufferPointer<CChar>, through buffer: UnsafeMutableBufferPointer<CChar>,
    into text: inout [UInt8]
  ) -> Int {
    var (left, space) = (source.count, buffer.count)
    var (input, output) = (source.baseAddress, buffer.baseAddress)
    _ = iconv(descriptor, nil, nil, nil, nil)
    _ = iconv(descriptor, &input, &left, &output, &space)
    // A letter that waited for an accent.
    _ = iconv(descriptor, nil, nil, &output, &space)
    text += buffer[..<(buffer.count - space)].map { UInt8(bitPattern: $0) }
    return source.count - left
  }
}
