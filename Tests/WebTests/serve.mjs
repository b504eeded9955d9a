// Serves the modules of Web as they are on disk, and a daemon's graph to them, for development:
// `node Tests/WebTests/serve.mjs SOCKET [PORT]`. Each WebSocket of /v1/socket is a connection to the daemon's socket.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const types = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};
const web = fileURLToPath(new URL('../../Web/', import.meta.url));

/** Starts a server on a free port, or the given one; returns it. */
export function serve(socket, port = 0, folder = web) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    try {
      const data = await readFile(join(folder, path.endsWith('/') ? `${path}index.html` : path));
      response.writeHead(200, { 'Content-Type': types[extname(path)] ?? 'text/html', 'Cache-Control': 'no-store' });
      response.end(data);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.on('upgrade', (request, client) => {
    const key = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
    const daemon = connect(socket);
    const end = () => {
      client.destroy();
      daemon.destroy();
    };
    for (const each of [client, daemon]) each.on('error', end).on('close', end);
    client.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${key.digest('base64')}\r\nSec-WebSocket-Protocol: graph.1\r\n\r\n`);
    client.on('data', messages(clientFrame, (bytes) => daemon.write(Buffer.concat([length(bytes), bytes]))));
    daemon.on('data', messages(daemonFrame, (bytes) => client.write(Buffer.concat([header(bytes), bytes]))));
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(server)));
}

/** Splits a stream into messages. */
function messages(frame, receive) {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (let found = frame(rest); found; found = frame(rest)) {
      rest = rest.subarray(found.end);
      if (found.bytes) receive(found.bytes);
    }
  };
}

function daemonFrame(data) {
  const end = data.length >= 4 ? 4 + data.readUInt32BE(0) : Infinity;
  return data.length >= end ? { end, bytes: data.subarray(4, end) } : undefined;
}

/** A masked frame; one that is not binary has no bytes. */
function clientFrame(data) {
  if (data.length < 6) return undefined;
  const short = data[1] & 127;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (data.length < start + 4) return undefined;
  const size = short === 126 ? data.readUInt16BE(2) : short === 127 ? Number(data.readBigUInt64BE(2)) : short;
  const end = start + 4 + size;
  if (data.length < end) return undefined;
  const bytes = Buffer.from(data.subarray(start + 4, end));
  for (let index = 0; index < size; index++) bytes[index] ^= data[start + (index & 3)];
  return { end, bytes: (data[0] & 15) === 2 ? bytes : undefined };
}

function length(bytes) {
  const found = Buffer.alloc(4);
  found.writeUInt32BE(bytes.length);
  return found;
}

function header(bytes) {
  const size = bytes.length < 126 ? 2 : bytes.length < 65536 ? 4 : 10;
  const found = Buffer.alloc(size);
  found[0] = 0x82;
  found[1] = size === 2 ? bytes.length : size === 4 ? 126 : 127;
  if (size === 4) found.writeUInt16BE(bytes.length, 2);
  if (size === 10) found.writeBigUInt64BE(BigInt(bytes.length), 2);
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2]) {
  const server = await serve(process.argv[2], Number(process.argv[3] ?? 7419));
  console.log(`http://127.0.0.1:${server.address().port}/`);
}
