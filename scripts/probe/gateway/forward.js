// Runs inside a sandbox without Python (`node -e`): passes TCP connections on to a unix socket, for
// one command. Arguments: socket, port, command …
const net = require("net");
const { spawn } = require("child_process");
const { constants } = require("os");

const [path, port, command, ...rest] = process.argv.slice(1);

const server = net.createServer({ allowHalfOpen: true }, (client) => {
  const upstream = net.connect({ path, allowHalfOpen: true });
  client.pipe(upstream);
  upstream.pipe(client);
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  client.on("error", end);
  upstream.on("error", end);
});

server.listen(Number(port), "127.0.0.1", () => {
  let child;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child = spawn(command, rest, { stdio: "inherit" });
  child.on("error", (error) => {
    console.error(`probe: cannot start ${command}: ${error.code}`);
    process.exit(127);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
});
