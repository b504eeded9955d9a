/// The words of the command line can't be read at all. On Linux, Swift reads them from `/proc/self/cmdline`: without
/// `/proc` there is none, and a program that went on would run without its options, on another store than the one
/// that was named.
public struct UnreadableCommandLine: Error, CustomStringConvertible {
  public var description: String {
    "the command line can't be read, and nothing was done: this program needs /proc, look whether it is mounted"
  }

  /// - Throws: itself if there is no word. The program's name is always one.
  public static func check() throws(UnreadableCommandLine) {
    guard CommandLine.argc > 0 else { throw UnreadableCommandLine() }
  }
}
