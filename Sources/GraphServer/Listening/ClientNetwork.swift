// Tests: ClientNetworkTests.swift
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The network of a client, by which connections and failed logins are counted: an IPv4 address, or the first 64 bits
/// of an IPv6 address, because one customer of a provider has at least as many addresses as the other 64 bits give.
///
/// The address is taken from the TCP connection itself, because only its holder can use it: no message of the protocol
/// names another one.
struct ClientNetwork: Hashable, CustomStringConvertible {
  private let isVersion6: Bool
  /// The address, or its first 64 bits.
  private let bits: UInt64

  /// - Returns: nil for a text that is no IP address.
  init?(_ address: String) {
    var version4 = in_addr()
    if inet_pton(AF_INET, address, &version4) == 1 {
      (isVersion6, bits) = (false, UInt64(UInt32(bigEndian: version4.s_addr)))
      return
    }
    // The zone of a link-local address is not part of it.
    var version6 = in6_addr()
    guard inet_pton(AF_INET6, String(address.prefix { $0 != "%" }), &version6) == 1 else { return nil }
    let bytes = withUnsafeBytes(of: &version6) { [UInt8]($0) }
    assert(bytes.count == 16, "an IPv6 address has 16 bytes")
    if bytes.prefix(10).allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
      // An IPv4 client of a socket for both versions.
      (isVersion6, bits) = (false, Self.number(bytes.suffix(4)))
    } else if bytes.prefix(15).allSatisfy({ $0 == 0 }), bytes[15] == 1 {
      // The IPv6 loopback address counts as that of IPv4.
      (isVersion6, bits) = (false, 0x7F00_0001)
    } else {
      (isVersion6, bits) = (true, Self.number(bytes.prefix(8)))
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Whether the address is one of this machine, such as that of a tunnel or a proxy for many clients.
  var isLoopback: Bool { !isVersion6 && bits >> 24 == 127 }

  var description: String {
    func part(_ shift: UInt64, _ mask: UInt64) -> UInt64 { bits >> shift & mask }
    if isVersion6 {
      return ([48, 32, 16, 0] as [UInt64]).map { String(part($0, 0xFFFF), radix: 16) }
        .joined(separator: ":") + "::/64"
    }
    return ([24, 16, 8, 0] as [UInt64]).map { String(part($0, 0xFF)) }.joined(separator: ".")
  }
}
