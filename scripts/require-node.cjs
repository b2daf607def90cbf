/** Reports a Node.js that cannot run the other scripts. An old Node.js must be able to run this file. */
const { engines } = require("../package.json");

const required = engines.node.replace(">=", "");
const [major, minor] = process.versions.node.split(".").map(Number);
const [requiredMajor, requiredMinor] = required.split(".").map(Number);

if (major < requiredMajor || (major === requiredMajor && minor < requiredMinor)) {
  console.error(
    `Longshore needs Node.js ${required} or newer; this is ${process.version}. Install it from https://nodejs.org.`,
  );
  process.exitCode = 1;
}
