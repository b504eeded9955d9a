/// The command line cannot be read. On Linux, Swift reads it from `/proc/self/cmdline`. Without `/proc` the arguments
/// are empty, and the program would run without its options, on another store than the one specified.
public struct UnreadableCommandLine: Error, CustomStringConvertible {
  public var description: String {
    "the command line can't be read, and nothing was done: this program needs /proc; check that it is mounted"
  }

  /// - Throws: `UnreadableCommandLine` if there are no arguments, not even the program's name.
  public static func check() throws(UnreadableCommandLine) {
    guard CommandLine.argc > 0 else { throw UnreadableCommandLine() }
  }
}
