export default {
  fetch(_request, env) {
    const html = `<h1>Hello</h1>\n<p>${env.GREETING} from ${env.ENVIRONMENT}</p>\n`;
    return new Response(html, { headers: { "content-type": "text/html" } });
  },
};
