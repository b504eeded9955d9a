import GraphWire

/// No server answered.
public struct ConnectFailure: Error, CustomStringConvertible {
  /// The address that was tried.
  public let address: ServerAddress
  /// What the system said.
  public let cause: String

  /// A failure at the address, with what the system said.
  public init(address: ServerAddress, cause: String) { (self.address, self.cause) = (address, cause) }

  public var description: String { "no server answers at \(address) (\(cause))" }
}
