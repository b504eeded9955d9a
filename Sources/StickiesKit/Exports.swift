// A program of the sticky notes needs one import.
@_exported import GraphClient
