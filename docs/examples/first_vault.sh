#!/usr/bin/env bash
# Makes a key pair, a passwords vault signed with it, and one item, with nothing but curl and openssl.
# A real device seals everything with keys that only it knows; here the sealed parts are plain words, to be readable.
#
# usage: first_vault.sh BASE_URL TOKEN      (the token of an authenticator-app sign-in)
set -euo pipefail
base=$1 token=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

base64url() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
new_id() { openssl rand 16 | base64url; }
public_key() { openssl pkey -in "$1" -pubout -outform DER | tail -c 32 | openssl base64 -A; }

openssl genpkey -algorithm ed25519 -out "$work/signing.pem"
openssl genpkey -algorithm x25519 -out "$work/encryption.pem"
account=$(new_id) vault=$(new_id) device=$(new_id) item=$(new_id)

# signed METHOD PATH BODY: sends a request that carries X-Vault-Signature.
signed() {
    local method=$1 path=$2 body=$3 now digest signature
    now=$(($(date +%s) * 1000))
    digest=$(printf %s "$body" | openssl dgst -sha256 -r | cut -d' ' -f1)
    printf 'troupe-vault/v1\n%s\n%s\n%s\n%s\n%s' "$method" "$path" "$device" "$now" "$digest" >"$work/text"
    signature=$(openssl pkeyutl -sign -rawin -inkey "$work/signing.pem" -in "$work/text" | base64url)
    printf %s "$body" | curl -sS --fail-with-body -X "$method" "$base$path" \
        -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
        -H "X-Vault-Signature: v1;d=$device;t=$now;s=$signature" --data-binary @-
    echo
}

echo "== a vault, signed with its own new key"
signed POST /v1/me/vault "{
  \"accountId\": \"$account\",
  \"kdf\": {\"alg\": \"argon2id\", \"m\": 65536, \"t\": 3, \"p\": 1},
  \"kdfSalt\": \"$(openssl rand 16 | openssl base64 -A)\",
  \"keyset\": \"sealed on the device\",
  \"encryptionPublicKey\": \"$(public_key "$work/encryption.pem")\",
  \"signingPublicKey\": \"$(public_key "$work/signing.pem")\",
  \"vault\": {\"vaultId\": \"$vault\", \"envelope\": \"sealed\", \"attrs\": \"sealed\"},
  \"device\": {\"deviceId\": \"$device\", \"name\": \"A terminal\", \"platform\": \"web\"}
}"

echo "== its first item"
signed POST "/v1/me/vault/vaults/$vault/items" \
    "{\"changes\": [{\"itemId\": \"$item\", \"baseRevision\": 0, \"key\": \"sealed\", \"overview\": \"sealed\", \"details\": \"sealed\"}]}"

echo "== the index, which any signed-in device may read"
curl -sS --fail-with-body "$base/v1/me/vault/vaults/$vault/index" -H "Authorization: Bearer $token"
echo
