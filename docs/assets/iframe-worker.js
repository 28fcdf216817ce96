/* Search without a server. A browser starts no worker from a file: address, so the theme's search runs in a
   hidden frame there. The theme looks for the name IFrameWorker. */
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inside = new Promise((ready) => {
        const program = inside.document.createElement("script");
        program.src = new URL(address, location.href);
        program.onload = () => ready(inside);
        inside.document.body.append(program);
      });
    }

    async postMessage(data) {
      const inside = await this.inside;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
  };
}
