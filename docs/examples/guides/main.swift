import GraphWire

// `swift run company-guides GUIDE SERVER`: the programs of docs/guides, for a daemon that serves Schema/Company.
let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count == 2, let server = try? ServerAddress(parsing: arguments[1]) {
  switch arguments[0] {
  case "modelling": try await modelling(at: server)
  case "live-queries": try await liveQueries(at: server)
  case "faulting": try await faulting(at: server)
  case "conflicts": try await conflicts(at: server)
  default: print("there is no guide \(arguments[0]): there are modelling, live-queries, faulting and conflicts")
  }
} else {
  print("usage: company-guides modelling|live-queries|faulting|conflicts tcp://HOST:PORT|unix:///PATH")
}
