import Testing

@testable import GraphServer

/// The networks by which connections and failed logins are counted.
@Suite struct ClientNetworkTests {
  @Test(arguments: [
    ("10.1.2.3", "10.1.2.3"), ("255.255.255.255", "255.255.255.255"), ("::ffff:10.1.2.3", "10.1.2.3"),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
    ("fe80::1%eth0", "fe80:0:0:0::/64"),
  ])
  func addressHasNetwork(address: String, network: String) throws {
    let found = try #require(ClientNetwork(address))
    #expect(found.description == network)
    #expect(!found.isLoopback)
  }

  @Test(arguments: ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
  func loopbackIsThisMachine(address: String) throws { #expect(try #require(ClientNetwork(address)).isLoopback) }

  @Test(arguments: ["", "local", "10.1.2", "10.1.2.3.4", "example.org", "10.1.2.3, 10.1.2.4", "::g"])
  func otherTextIsNoAddress(text: String) { #expect(ClientNetwork(text) == nil) }

  @Test func connectionsOfNetworkAreLimited() throws {
    let one = try #require(ClientNetwork("2001:db8::1"))
    let neighbor = try #require(ClientNetwork("2001:db8::2"))
    let other = try #require(ClientNetwork("2001:db8:0:1::1"))
    var table = NetworkTable(maximum: 2)
    #expect(table.add(one) && table.add(neighbor))
    // Another address of the same network does not help.
    #expect(!table.add(one) && !table.add(neighbor))
    #expect(table.add(other))
    table.remove(one)
    #expect(table.add(neighbor) && !table.add(one))
    table.remove(neighbor)
    table.remove(neighbor)
    table.remove(other)
    #expect(table.isEmpty)
  }

  @Test func connectionsOfThisMachineAreNotCounted() throws {
    let local = try #require(ClientNetwork("127.0.0.1"))
    var table = NetworkTable(maximum: 1)
    for _ in 0..<10 { #expect(table.add(local)) }
    #expect(table.isEmpty)
  }
}
