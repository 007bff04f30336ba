/** A self-signed certificate for localhost and 127.0.0.1, valid for 100 years, which also signs itself as an authority. For tests only. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUSqMfGBa9ybGo+Svq+1yde+lHPyMwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzExNTYwNVoYDzIxMjYxMDMw
MTE1NjA1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASRd1jldCmAo8NNQT8I5KjhpdnU7WaShpFqJvsoqg2z8HtU4D9FDMIR
MTeC8vS0VkMPX8NsP+Qc8Kezi/cfwzz5o28wbTAdBgNVHQ4EFgQUfr2zNa2F2RT3
O/rCmZcCCk8MwGowHwYDVR0jBBgwFoAUfr2zNa2F2RT3O/rCmZcCCk8MwGowDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAKODKBNIc/t1VdHNYwvy1pSPKmUByJb1SGxm7dac3WwqAiEA
rU8WA+g2t1ZkV987vtizo0HjxQUMwTZ/05wSTcophVg=
-----END CERTIFICATE-----
`;

/** Its private key, which protects nothing. */
export const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg9fvjvgkao8CoPA1X
PB8NI/HQAZBU6q98jPP6urW0FKehRANCAASRd1jldCmAo8NNQT8I5KjhpdnU7WaS
hpFqJvsoqg2z8HtU4D9FDMIRMTeC8vS0VkMPX8NsP+Qc8Kezi/cfwzz5
-----END PRIVATE KEY-----
`;
