// The script is at `docs/reference.js` below the address of the service.
const service = new URL('..', document.currentScript.src).href;

// Everything comes from this service: no fonts, proxy, telemetry, or services of the component's maker.
Scalar.createApiReference('#reference', {
  url: `${service}openapi.json`,
  baseServerURL: service.replace(/\/$/, ''),
  theme: 'none',
  layout: 'modern',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  hideDarkModeToggle: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'none',
  agent: { disabled: true },
  mcp: { disabled: true },
  forceDarkModeState: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
  defaultOpenAllTags: false,
  operationTitleSource: 'summary',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  authentication: { preferredSecurityScheme: 'apiKey' },
});
