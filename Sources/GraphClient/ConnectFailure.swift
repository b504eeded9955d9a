// Tests: GraphClientTests.swift
import GraphWire
import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// No connection could be made to the server.
public struct ConnectFailure: Error, CustomStringConvertible {
  /// The address that was tried.
  public let address: ServerAddress
  /// The error of the operating system.
  public let cause: String

  /// A failure to connect to the address.
  public init(address: ServerAddress, cause: String) { (self.address, self.cause) = (address, cause) }

  /// A failure to connect to the address, with the error of a transport.
  init(address: ServerAddress, error: any Error) { self.init(address: address, cause: Self.cause(error)) }

  public var description: String { "no server answers at \(address) (\(cause))" }

  /// The words of the operating system. NIO's description adds names of its functions.
  private static func cause(_ error: any Error) -> String {
    switch error {
    case let error as IOError: return String(cString: strerror(error.errnoCode))
    case let error as NIOConnectionError where error.dnsAError == nil && error.dnsAAAAError == nil:
      // The failures, one for each address of the host; they are usually equal.
      var causes = [String]()
      for failure in error.connectionErrors {
        let cause = cause(failure.error)
        if !causes.contains(cause) { causes.append(cause) }
      }
      return causes.isEmpty ? "\(error)" : causes.joined(separator: ", ")
    default: return "\(error)"
    }
  }
}
