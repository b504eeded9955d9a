import GraphClient

// `swift run company-guides GUIDE SERVER`: the programs of docs/guides, for a daemon that serves Schema/Company.
let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count == 2, let server = try? ServerAddress(parsing: arguments[1]) {
  switch arguments[0] {
  case "modelling": try await modelling(at: server)
  case "fetching": try await fetching(at: server)
  case "live-queries": try await liveQueries(at: server)
  case "live-windows": try await liveWindows(at: server)
  case "faulting": try await faulting(at: server)
  case "conflicts": try await conflicts(at: server)
  case "undo": try await undo(at: server)
  case "from-core-data": try await fromCoreData(at: server)
  default:
    print(
      "there is no guide \(arguments[0]): there are modelling, fetching, live-queries, live-windows, faulting, conflicts, "
        + "undo and from-core-data")
  }
} else {
  print(
    "usage: company-guides modelling|fetching|live-queries|live-windows|faulting|conflicts|undo|from-core-data "
      + "tcp://HOST:PORT|unix:///PATH")
}
