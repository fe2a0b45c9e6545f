/**
 * Imported first by every script. npm puts node_modules/.bin/node (24) ahead of the system's Node;
 * when its install script did not run, everything would silently run on whatever Node is there.
 */
const wanted = "24.";
if (!process.versions.node.startsWith(wanted)) {
  process.stderr.write(
    `This script needs Node ${wanted}x but runs on ${process.versions.node}.\n` +
      "Node comes with the dev dependencies: run `npm install` (without --ignore-scripts),\n" +
      "then start scripts through npm, for example `npm run check`.\n",
  );
  process.exit(1);
}
