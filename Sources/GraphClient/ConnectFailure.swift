// Tests: GraphClientTests.swift
import GraphWire

/// No connection could be made to the server.
public struct ConnectFailure: Error, CustomStringConvertible {
  /// The address that was tried.
  public let address: ServerAddress
  /// The error of the operating system.
  public let cause: String

  /// A failure to connect to the address.
  public init(address: ServerAddress, cause: String) { (self.address, self.cause) = (address, cause) }

  public var description: String { "no server answers at \(address) (\(cause))" }
}
