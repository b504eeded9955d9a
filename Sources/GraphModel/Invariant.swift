/// A condition that the code relies on does not hold: a fault of this program, regardless of its input.
///
/// The request in which it occurred is refused and changes nothing; the daemon logs the name.
public struct InvariantFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The condition, as a sentence: "a planned object has a table".
  public let name: String

  /// A failure to report.
  public init(_ name: String) { self.name = name }

  public var description: String { "an error in this program; this does not hold: \(name)" }
}

/// Whether a broken invariant ends the process.
public enum Invariants {
  /// True in debug builds. A test of the behavior of a release build binds it to false.
  @TaskLocal public static var areFatal = isDebugBuild

  private static var isDebugBuild: Bool {
    var isDebug = false
    // An assertion's condition is evaluated in debug builds only.
    assert(
      {
        isDebug = true
        return true
      }())
    return isDebug
  }
}

/// Checks a condition that holds if this program has no fault.
/// - Parameter name: the condition, as a sentence.
/// - Throws: `InvariantFailure` in release builds; a debug build traps.
@inlinable public func invariant(
  _ condition: Bool, _ name: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) throws(InvariantFailure) {
  guard !condition else { return }
  throw brokenInvariant(name(), file: file, line: line)
}

/// The value, which is there if this program has no fault.
/// - Parameter name: the condition, as a sentence.
/// - Throws: `InvariantFailure` in release builds; a debug build traps.
@inlinable public func invariant<Value>(
  _ value: Value?, _ name: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) throws(InvariantFailure) -> Value {
  guard let value else { throw brokenInvariant(name(), file: file, line: line) }
  return value
}

/// Traps where broken invariants are fatal.
@usableFromInline func brokenInvariant(_ name: String, file: StaticString, line: UInt) -> InvariantFailure {
  if Invariants.areFatal { fatalError("this does not hold: \(name)", file: file, line: line) }
  return InvariantFailure(name)
}
