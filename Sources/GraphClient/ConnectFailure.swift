import GraphWire

/// No server answered.
public struct ConnectFailure: Error, CustomStringConvertible {
  /// The address that was tried.
  public let address: ServerAddress
  /// What the system said.
  public let cause: String

  public var description: String { "no server answers at \(address) (\(cause))" }
}
