#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A converter of the C library, from a code page to Unicode.
///
/// A converter is stateful between calls (the first byte of a pair, a character that may be combined with an accent),
/// so each reader has its own. The library loads converters from files (gconv) on first use, and a small system may
/// lack them.
final class CodePageConverter {
  private let descriptor: iconv_t
  private let page: CodePage

  /// - Returns: nil if the system has no converter for the page.
  init?(_ page: CodePage) {
    // On failure, the library returns a pointer with all bits set.
    guard let name = page.converter, let descriptor = iconv_open("UTF-8", name), Int(bitPattern: descriptor) != -1
    else { return nil }
    (self.descriptor, self.page) = (descriptor, page)
  }

  deinit { iconv_close(descriptor) }

  /// Converts a run of bytes to UTF-8. A byte or pair that encodes no character becomes U+FFFD.
  /// - Parameter isEscaped: whether each byte is an escape in the text; the second byte of a pair can be an ASCII
  ///   code.
  /// - Returns: the text, and the number of unreadable characters.
  func letters(of bytes: [UInt8], isEscaped: [Bool]) -> (text: [UInt8], unreadable: Int) {
    var (text, unreadable) = ([UInt8](), 0)
    var source = bytes.map { CChar(bitPattern: $0) }
    // A byte becomes at most two scalars of three bytes each, and a flush adds one scalar.
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

  /// Converts up to the first byte that encodes no character.
  /// - Returns: the number of converted bytes.
  private func convert(
    _ source: UnsafeMutableBufferPointer<CChar>, through buffer: UnsafeMutableBufferPointer<CChar>,
    into text: inout [UInt8]
  ) -> Int {
    var (left, space) = (source.count, buffer.count)
    var (input, output) = (source.baseAddress, buffer.baseAddress)
    _ = iconv(descriptor, nil, nil, nil, nil)
    _ = iconv(descriptor, &input, &left, &output, &space)
    // Flush a character that may have been combined with an accent.
    _ = iconv(descriptor, nil, nil, &output, &space)
    text += buffer[..<(buffer.count - space)].map { UInt8(bitPattern: $0) }
    return source.count - left
  }
}
